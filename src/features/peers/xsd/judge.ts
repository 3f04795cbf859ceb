/** Whether a payload matches an XSD: it is written as XML, which libxml2 validates. */
import { XmlDocument, XmlValidateError, XsdValidator } from "libxml2-wasm";
import { isJsonObject, type Json, type JsonObject, type Misfit } from "../../../protocol/index.ts";
import { exampleOf } from "../example.ts";
import { xsdExpects, xsdNotBeside, xsdNotThis, xsdNoValue, xsdSays, xsdTooComplex } from "../wording.ts";
import { jsonSchemaOf, PARSE, readXsd, withoutChoices, type XsdField, type XsdNode, type XsdTree } from "./read-xsd.ts";

/** An XSD that payloads are judged by. */
interface Judge {
  readonly tree: XsdTree;
  readonly validator: XsdValidator;
}

/** Those that were used last. libxml2 keeps them until they are given back. */
const judges = new Map<string, Judge>();
const MOST_JUDGES = 50;

/** @throws XsdRefusal, or libxml2's error for an invalid XSD */
export function judgeOf(xsd: string, type: string): Judge {
  const key = `${type} ${xsd}`;
  const known = judges.get(key);
  if (known !== undefined) return known;
  const tree = readXsd(xsd, type);
  const document = XmlDocument.fromString(xsd, { option: PARSE });
  try {
    const judge = { tree, validator: XsdValidator.fromDoc(document) };
    for (const [oldest, { validator }] of judges.size < MOST_JUDGES ? [] : [...judges].slice(0, 1)) {
      validator.dispose();
      judges.delete(oldest);
    }
    judges.set(key, judge);
    return judge;
  } finally {
    document.dispose();
  }
}

type Path = readonly string[];

/** How often a payload is corrected and judged again, to find what the first finding hides. */
const MOST_ROUNDS = 10;

/**
 * Everything that is wrong with a payload by its XSD, beyond what is known of its JSON Schema. libxml2 skips what follows a misplaced
 * element: so that element is removed, or the missing one added, and the rest is judged again.
 */
export function xsdMisfits(
  xsd: string,
  type: string,
  payload: JsonObject,
  known: readonly (readonly PropertyKey[])[],
): readonly Pick<Misfit, "path" | "says">[] {
  const { tree, validator } = judgeOf(xsd, type);
  const found: Pick<Misfit, "path" | "says">[] = [];
  const done: Path[] = known.map((path) => path.map(String));
  const isDone = (path: Path): boolean => done.some((one) => one.every((step, i) => path[i] === step));
  let corrected = payload;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const details = detailsOf(validator, xmlOf(tree, corrected));
    // A pattern that takes too long: what cannot be judged is not let through.
    if (details === undefined) return [...found, { path: [], says: xsdTooComplex() }];
    const violations = details.map((detail) => violationOf(tree.node, corrected, detail));
    found.push(...violations.flatMap(({ place, ...one }) => (isDone(place) ? [] : [one])));
    done.push(...violations.map(({ place }) => place));
    const corrections = violations.flatMap(({ place, given }) => (given === undefined ? [] : [{ place, given }]));
    if (corrections.length === 0) break;
    // From the end, so that the places in lists stay what they are.
    for (const { place, given } of corrections.toReversed()) corrected = withAt(corrected, place, given);
  }
  return found;
}

function detailsOf(validator: XsdValidator, xml: string): XmlValidateError["details"] | undefined {
  const document = XmlDocument.fromString(xml, { option: PARSE });
  try {
    validator.validate(document);
    return [];
  } catch (thrown) {
    return thrown instanceof XmlValidateError && thrown.details.length > 0 ? thrown.details : undefined;
  } finally {
    document.dispose();
  }
}

interface Violation extends Pick<Misfit, "path" | "says"> {
  /** The value itself, or what is missing. */
  readonly place: Path;
  /** What is put there so that the rest can be judged: an example, or `null` to remove it. */
  readonly given?: Json;
}

/** Elements and attributes that libxml2 would have expected. */
function expectedIn(message: string): readonly string[] {
  const attribute = /The attribute '([^']+)' is required but missing/.exec(message)?.[1];
  if (attribute !== undefined) return [`@${attribute}`];
  const [, names = ""] = /Expected is (?:one of )?\(([^)]*)\)/.exec(message) ?? [];
  return names.split(",").map((name) => name.replace(/\{[^}]*\}/, "").trim());
}

function violationOf(
  root: XsdNode,
  payload: JsonObject,
  { xpath = "", message }: XmlValidateError["details"][number],
): Violation {
  const at = resolveXPath(root, xpath);
  const isMisplaced = / is not expected\./.test(message);
  const { path, node } = isMisplaced ? at.parent : at;
  const expected = isMisplaced || /missing/i.test(message) ? expectedIn(message) : [];
  const inside = valueAt(payload, path);
  const fields = node?.kind === "object" && isJsonObject(inside) ? node.fields : [];
  const absent = fields.filter(
    ({ name, min, choice }) => expected.includes(name) && valueAt(inside, [name]) === undefined && (min > 0 || choice),
  );
  const [first] = absent;
  if (first !== undefined) {
    const example = exampleOf({ schema: jsonSchemaOf(withoutChoices(first.node)) });
    const says = xsdExpects(absent.map(({ name }) => name));
    return { path, says, place: [...path, first.name], given: first.max > 1 ? [example] : example };
  }
  const says = ruleOf(at.node, message);
  return { path: at.path, says, place: at.path, ...(isMisplaced && { given: null }) };
}

const valueAt = (value: Json | undefined, path: Path): Json | undefined =>
  path.reduce<Json | undefined>(
    (inside, step) =>
      Array.isArray(inside)
        ? inside[Number(step)]
        : isJsonObject(inside) && Object.hasOwn(inside, step)
          ? inside[step]
          : undefined,
    value,
  );

/** The payload with another value at that place, or without it. */
function withAt(payload: JsonObject, path: Path, given: Json): JsonObject {
  const changed = (inside: Json | undefined, [step = "", ...rest]: Path): Json => {
    const next = valueAt(inside, [step]);
    const value = rest.length === 0 ? given : changed(next, rest);
    if (Array.isArray(inside))
      return inside.flatMap((one, i) => (i !== Number(step) ? [one] : value === null ? [] : [value]));
    const others = Object.entries(isJsonObject(inside) ? inside : {}).filter(([key]) => key !== step);
    return Object.fromEntries([...others, ...(value === null ? [] : [[step, value] as const])]);
  };
  const whole = path.length === 0 ? payload : changed(payload, path);
  return isJsonObject(whole) ? whole : payload;
}

interface Place {
  readonly path: Path;
  readonly node: XsdNode | undefined;
}

/** `/p:Order/item[2]/sku` as `item`, `1`, `sku`, and what it is in. */
function resolveXPath(root: XsdNode, xpath: string): Place & { readonly parent: Place } {
  let parent: Place = { path: [], node: root };
  let here: Place = parent;
  for (const step of xpath.split("/").slice(2)) {
    const [, at = "", local = "", n = "1"] = /^(@?)(?:[^:]*:)?([^[]*)(?:\[(\d+)\])?$/.exec(step) ?? [];
    const { node }: Place = here;
    const field: XsdField | undefined =
      node?.kind === "object" ? node.fields.find(({ name }) => name === `${at}${local}`) : undefined;
    const index = field !== undefined && field.max > 1 ? [String(Number(n) - 1)] : [];
    parent = here;
    here = { path: [...parent.path, `${at}${local}`, ...index], node: field?.node };
  }
  return { ...here, parent };
}

/** The broken rule, in the XSD's words: libxml2's message repeats the value, which may come from somebody else. */
function ruleOf(node: XsdNode | undefined, message: string): string {
  const facet = /\[facet '(\w+)'\]/.exec(message)?.[1];
  const allowed = facet !== undefined && node?.kind === "value" ? (node.facets[facet] ?? []) : [];
  if (facet !== undefined && allowed.length > 0) return xsdSays(facet, allowed);
  if (/ is not expected\./.test(message)) return xsdNotBeside();
  return node?.kind === "value" ? xsdNoValue(node.type) : xsdNotThis();
}

/** A payload as XML, its fields in the order of the XSD. Names are of the XSD alone. */
export function xmlOf({ root, namespace, node }: XsdTree, payload: JsonObject): string {
  const prefix = (isQualified: boolean): string => (namespace !== "" && isQualified ? "p:" : "");
  const attribute = ({ name, isQualified, node: of }: XsdField, value: Json): string =>
    ` ${prefix(isQualified)}${name.slice(1)}="${escaped(textOf(of, value))}"`;
  const element = (name: string, inner: XsdNode, value: Json, head = ""): string => {
    if (inner.kind === "value") return `<${name}>${escaped(textOf(inner, value))}</${name}>`;
    const given = new Map(Object.entries(isJsonObject(value) ? value : {}));
    const all = inner.fields.flatMap((field) => {
      const one = given.get(field.name);
      return one === undefined ? [] : [{ field, one }];
    });
    const attributes = all.flatMap(({ field, one }) => (field.isAttribute ? [attribute(field, one)] : []));
    const children = all.flatMap(({ field: { name: child, node: of, isAttribute, isQualified }, one }) =>
      isAttribute ? [] : [one].flat().map((each: Json) => element(`${prefix(isQualified)}${child}`, of, each)),
    );
    return `<${name}${head}${attributes.join("")}>${children.join("")}</${name}>`;
  };
  const head = namespace === "" ? "" : ` xmlns:p="${escaped(namespace)}"`;
  return element(`${prefix(true)}${root}`, node, payload, head);
}

/** A value as text: a decimal has no exponent in XSD. */
function textOf(node: XsdNode, value: Json): string {
  const text = String(value);
  const isFloat = node.kind === "value" && (node.type === "double" || node.type === "float");
  const [, sign = "", whole = "", fraction = "", power] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (typeof value !== "number" || isFloat || power === undefined) return text;
  const digits = `${whole}${fraction}`;
  return Number(power) < 0
    ? `${sign}0.${digits.padStart(digits.length - Number(power) - 1, "0")}`
    : `${sign}${digits.padEnd(Number(power) + 1, "0")}`;
}

/** Also without what XML cannot hold. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[&<>"\r\n\t]/g, (one) => `&#${one.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
