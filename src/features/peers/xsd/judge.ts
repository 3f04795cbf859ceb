/** Whether a payload matches an XSD: it is written as XML, which libxml2 validates. */
import { XmlDocument, XmlValidateError, XsdValidator } from "libxml2-wasm";
import type { Json, JsonObject } from "../../../protocol/index.ts";
import { xsdExpects, xsdNotBeside, xsdNotThis, xsdNoValue, xsdSays, xsdTooComplex } from "../wording.ts";
import { PARSE, readXsd, type XsdField, type XsdNode, type XsdTree } from "./read-xsd.ts";

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

/** What is wrong with a payload that matches the XSD's JSON Schema, with its place; undefined if nothing is. */
export function xsdFinding(xsd: string, type: string, payload: JsonObject): string | undefined {
  const { tree, validator } = judgeOf(xsd, type);
  const document = XmlDocument.fromString(xmlOf(tree, payload), { option: PARSE });
  try {
    validator.validate(document);
    return undefined;
  } catch (thrown) {
    const [detail] = thrown instanceof XmlValidateError ? thrown.details : [];
    // A pattern that takes too long: what cannot be judged is not let through.
    if (detail === undefined) return `the payload: ${xsdTooComplex()}`;
    const { path, node } = resolveXPath(tree.node, detail.xpath ?? "");
    const where = path.length === 0 ? "the payload" : `\`${path.join(".")}\``;
    return `${where}: ${ruleOf(node, detail.message)}`;
  } finally {
    document.dispose();
  }
}

/** `/p:Order/item[2]/sku` as `item`, `1`, `sku`. */
function resolveXPath(
  root: XsdNode,
  xpath: string,
): { readonly path: readonly string[]; readonly node: XsdNode | undefined } {
  const path: string[] = [];
  let node: XsdNode | undefined = root;
  for (const step of xpath.split("/").slice(2)) {
    const [, at = "", local = "", n = "1"] = /^(@?)(?:[^:]*:)?([^[]*)(?:\[(\d+)\])?$/.exec(step) ?? [];
    const field: XsdField | undefined =
      node?.kind === "object" ? node.fields.find(({ name }) => name === `${at}${local}`) : undefined;
    path.push(`${at}${local}`, ...(field !== undefined && field.max > 1 ? [String(Number(n) - 1)] : []));
    node = field?.node;
  }
  return { path, node };
}

/** The broken rule, in the XSD's words: libxml2's message repeats the value, which may come from somebody else. */
function ruleOf(node: XsdNode | undefined, message: string): string {
  const facet = /\[facet '(\w+)'\]/.exec(message)?.[1];
  const allowed = facet !== undefined && node?.kind === "value" ? (node.facets[facet] ?? []) : [];
  if (facet !== undefined && allowed.length > 0) return xsdSays(facet, allowed);
  const expected = /Expected is \(? ?([^.]*?) ?\)?\.\s*$/.exec(message)?.[1];
  const names = expected?.replace(/\{[^}]*\}/g, "").replace(/^one of \( ?/, "one of ");
  if (names) return xsdExpects(names.trim());
  if (/ is not expected\./.test(message)) return xsdNotBeside();
  return node?.kind === "value" ? xsdNoValue(node.type) : xsdNotThis();
}

/** A payload as XML, its fields in the order of the XSD. Names are of the XSD alone. */
export function xmlOf({ root, namespace, node }: XsdTree, payload: JsonObject): string {
  const prefix = (isQualified: boolean): string => (namespace !== "" && isQualified ? "p:" : "");
  const attribute = ({ name, isQualified }: XsdField, value: Json): string =>
    ` ${prefix(isQualified)}${name.slice(1)}="${escaped(String(value))}"`;
  const element = (name: string, inner: XsdNode, value: Json, head = ""): string => {
    if (inner.kind === "value") return `<${name}>${escaped(String(value))}</${name}>`;
    const given = new Map(Object.entries(isObject(value) ? value : {}));
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

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Also without what XML cannot hold. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[&<>"\r\n\t]/g, (one) => `&#${one.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
