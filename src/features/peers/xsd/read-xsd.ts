/** An XSD as a tree from which JSON Schema and XML are made. What the tree cannot hold is refused when the agents are loaded. */
import { ParseOption, XmlDocument, XmlElement } from "libxml2-wasm";
import type { Json, JsonObject } from "../../../protocol/index.ts";

/** An element's content: text of a type of XSD's own under facets, or named fields. */
export type XsdNode =
  | {
      readonly kind: "value";
      readonly type: string;
      readonly facets: Readonly<Record<string, readonly string[]>>;
      readonly message?: string;
    }
  | { readonly kind: "object"; readonly fields: readonly XsdField[]; readonly message?: string };

/** A child element, or an attribute. */
export interface XsdField {
  /** The name in JSON: an attribute starts with `@`. */
  readonly name: string;
  readonly node: XsdNode;
  readonly min: number;
  readonly max: number;
  readonly isAttribute: boolean;
  /** The names of the choice that it belongs to, itself among them. */
  readonly choice?: readonly string[];
  /** Whether it is in the schema's namespace. */
  readonly isQualified: boolean;
}

export interface XsdTree {
  readonly root: string;
  readonly namespace: string;
  readonly node: XsdNode;
}

/** What keeps an XSD from being the type of a payload. */
export class XsdRefusal extends Error {}

const refuse = (sentence: string): never => {
  throw new XsdRefusal(sentence);
};

const XS = "http://www.w3.org/2001/XMLSchema";

/** No network, no entities from elsewhere. */
export const PARSE = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE;

const LONGEST = 256 * 1024;
/** The most fields in all, types within types, and repetitions given as a number. */
const MOST_FIELDS = 1_000;
const DEEPEST = 16;
const MOST_OFTEN = 10_000;

/** XSD's own types that have a counterpart, as JSON Schema. */
export const TYPES: ReadonlyMap<string, JsonObject> = new Map(
  Object.entries({
    string: { type: "string" },
    normalizedString: { type: "string" },
    token: { type: "string" },
    anyURI: { type: "string", description: "A URI." },
    boolean: { type: "boolean" },
    decimal: { type: "number" },
    double: { type: "number" },
    float: { type: "number" },
    date: { type: "string", format: "date" },
    dateTime: { type: "string", format: "date-time" },
    time: { type: "string", format: "time" },
    duration: { type: "string", format: "duration" },
    base64Binary: { type: "string", description: "In Base64." },
    integer: { type: "integer" },
    long: { type: "integer" },
    int: { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 },
    short: { type: "integer", minimum: -32_768, maximum: 32_767 },
    byte: { type: "integer", minimum: -128, maximum: 127 },
    nonNegativeInteger: { type: "integer", minimum: 0 },
    positiveInteger: { type: "integer", minimum: 1 },
    unsignedInt: { type: "integer", minimum: 0, maximum: 4_294_967_295 },
    unsignedByte: { type: "integer", minimum: 0, maximum: 255 },
  }),
);

const childrenOf = (parent: XmlElement): readonly XmlElement[] => {
  const found: XmlElement[] = [];
  for (let node = parent.firstChild; node !== null; node = node.next) if (node instanceof XmlElement) found.push(node);
  return found.filter(({ name }) => name !== "annotation");
};

const attributeOf = (element: XmlElement, name: string): string | undefined =>
  element.attrs.find((one) => one.name === name)?.value;

const requiredName = (element: XmlElement): string => attributeOf(element, "name") ?? refuse("an element has no name");

function documented(element: XmlElement): { readonly message?: string } {
  const sentence = element.get("x:annotation/x:documentation", { x: XS })?.content.trim();
  return sentence ? { message: sentence } : {};
}

const localName = (qualified: string): string => qualified.split(":").at(-1) ?? qualified;

/**
 * The tree of an XSD. `type` names the payload's element if there are several.
 * @throws XsdRefusal whose message ends a sentence
 */
export function readXsd(xsd: string, type: string | undefined): XsdTree {
  if (xsd.length > LONGEST) refuse("it is longer than 256 KB");
  if (/<!DOCTYPE/i.test(xsd)) refuse("it has a DOCTYPE; remove it");
  const document = XmlDocument.fromString(xsd, { option: PARSE });
  try {
    return new Reader(document.root).tree(type);
  } finally {
    document.dispose();
  }
}

/** Reads one document. `open` names the types that are being read. */
class Reader {
  readonly #root: XmlElement;
  readonly #named: ReadonlyMap<string, XmlElement>;
  readonly #qualifies: { readonly element: boolean; readonly attribute: boolean };
  #fields = 0;

  constructor(root: XmlElement) {
    this.#root = root;
    if (root.name !== "schema" || root.namespaceUri !== XS) refuse("its root is not an xs:schema");
    const top = childrenOf(root);
    for (const { name } of top)
      if (["import", "include", "redefine", "override"].includes(name))
        refuse(`xs:${name} is not read; put all types into one file`);
    this.#named = new Map(top.map((one) => [`${one.name}:${attributeOf(one, "name")}`, one]));
    const isQualified = (what: string) => attributeOf(root, `${what}FormDefault`) === "qualified";
    this.#qualifies = { element: isQualified("element"), attribute: isQualified("attribute") };
  }

  tree(type: string | undefined): XsdTree {
    const elements = [...this.#named].flatMap(([key, one]) => (key.startsWith("element:") ? [one] : []));
    const [only] = elements;
    const names = elements.map(requiredName).join(", ");
    const main =
      (type === undefined ? undefined : this.#named.get(`element:${type}`)) ??
      (elements.length === 1 && only !== undefined
        ? only
        : refuse(`it declares ${elements.length} elements (${names}); name the payload's with \`type\``));
    const node = this.#contentOf(main, []);
    if (node.kind === "value") return refuse(`its element ${requiredName(main)} has no fields; a payload is an object`);
    return {
      root: requiredName(main),
      namespace: attributeOf(this.#root, "targetNamespace") ?? "",
      node: { ...node, ...documented(main) },
    };
  }

  #contentOf(element: XmlElement, open: readonly string[]): XsdNode {
    const name = requiredName(element);
    for (const one of ["nillable", "abstract", "substitutionGroup"])
      if (attributeOf(element, one) !== undefined) refuse(`\`${one}\` of ${name} has no counterpart in JSON`);
    const inner = childrenOf(element).find((one) => one.name === "complexType" || one.name === "simpleType");
    if (inner !== undefined) return { ...this.#typeAt(inner, open), ...documented(element) };
    const type = attributeOf(element, "type") ?? refuse(`${name} has no type`);
    return { ...this.#typeNamed(type, element, open), ...documented(element) };
  }

  #typeNamed(type: string, at: XmlElement, open: readonly string[]): XsdNode {
    const local = localName(type);
    const prefix = type.includes(":") ? type.slice(0, type.indexOf(":")) : "";
    if (at.namespaces[prefix] === XS)
      return TYPES.has(local)
        ? { kind: "value", type: local, facets: {} }
        : refuse(`the type xs:${local} has no counterpart`);
    if (open.includes(local)) return refuse(`the type ${local} contains itself`);
    if (open.length >= DEEPEST) return refuse(`its types are nested deeper than ${DEEPEST} levels`);
    const found = this.#named.get(`complexType:${local}`) ?? this.#named.get(`simpleType:${local}`);
    return found === undefined ? refuse(`the type ${type} is missing`) : this.#typeAt(found, [...open, local]);
  }

  #typeAt(type: XmlElement, open: readonly string[]): XsdNode {
    if (type.name === "simpleType") return { ...this.#simple(type, open), ...documented(type) };
    if (attributeOf(type, "mixed") === "true") refuse("mixed content has no counterpart in JSON");
    const fields: XsdField[] = [];
    for (const part of childrenOf(type)) {
      if (["sequence", "all", "choice"].includes(part.name)) fields.push(...this.#group(part, open, false));
      else if (part.name === "attribute") fields.push(this.#attribute(part, open));
      else refuse(`xs:${part.name} has no counterpart in JSON`);
    }
    const names = fields.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined) refuse(`${twice} appears twice in one type`);
    return { kind: "object", fields, ...documented(type) };
  }

  #simple(type: XmlElement, open: readonly string[]): XsdNode {
    const [restriction] = childrenOf(type);
    if (restriction?.name !== "restriction") return refuse("a simple type must be an xs:restriction, no list or union");
    const base = attributeOf(restriction, "base") ?? refuse("a restriction has no base");
    const from = this.#typeNamed(base, restriction, open);
    if (from.kind !== "value") return refuse(`${base} is not a simple type`);
    const own = Object.groupBy(childrenOf(restriction), ({ name }) => name);
    const facets = Object.entries(own).map(([name, all = []]) => [
      name,
      all.map((one) => attributeOf(one, "value") ?? ""),
    ]);
    return { ...from, facets: { ...from.facets, ...Object.fromEntries(facets) } };
  }

  /** The fields of a group. In a choice, each may be missing. */
  #group(group: XmlElement, open: readonly string[], isOptional: boolean): readonly XsdField[] {
    if ((attributeOf(group, "maxOccurs") ?? "1") !== "1")
      refuse(`a repeated xs:${group.name} has no counterpart in JSON`);
    const mayMiss = isOptional || group.name === "choice" || attributeOf(group, "minOccurs") === "0";
    const fields = childrenOf(group).flatMap((part) => {
      if (part.name === "sequence" || part.name === "choice") return this.#group(part, open, mayMiss);
      if (part.name !== "element") return refuse(`xs:${part.name} has no counterpart in JSON`);
      const ref = attributeOf(part, "ref");
      const declared = ref === undefined ? part : this.#named.get(`element:${localName(ref)}`);
      if (declared === undefined) return refuse(`${ref} refers to no element`);
      const form = attributeOf(part, "form");
      const qualified = ref !== undefined || (form === undefined ? this.#qualifies.element : form === "qualified");
      return [
        this.#field(declared, open, { ...this.#occurs(part, mayMiss), isAttribute: false, isQualified: qualified }),
      ];
    });
    if (group.name !== "choice") return fields;
    const choice = fields.map(({ name }) => name);
    return fields.map((field) => ({ ...field, choice }));
  }

  #occurs(part: XmlElement, mayMiss: boolean): Pick<XsdField, "min" | "max"> {
    const most = attributeOf(part, "maxOccurs") ?? "1";
    const max = most === "unbounded" ? Number.POSITIVE_INFINITY : Number(most);
    if (Number.isFinite(max) && max > MOST_OFTEN) refuse(`maxOccurs is at most ${MOST_OFTEN}, or \`unbounded\``);
    return { min: mayMiss ? 0 : Math.min(MOST_OFTEN, Number(attributeOf(part, "minOccurs") ?? "1")), max };
  }

  #attribute(part: XmlElement, open: readonly string[]): XsdField {
    if (attributeOf(part, "ref") !== undefined) refuse("an attribute by `ref` is not read");
    const form = attributeOf(part, "form");
    const isQualified = form === undefined ? this.#qualifies.attribute : form === "qualified";
    const min = attributeOf(part, "use") === "required" ? 1 : 0;
    const { name, ...field } = this.#field(part, open, { min, max: 1, isAttribute: true, isQualified });
    return { name: `@${name}`, ...field };
  }

  #field(declared: XmlElement, open: readonly string[], how: Omit<XsdField, "name" | "node">): XsdField {
    this.#fields += 1;
    if (this.#fields > MOST_FIELDS) refuse(`it has more than ${MOST_FIELDS} fields`);
    return { name: requiredName(declared), node: this.#contentOf(declared, open), ...how };
  }
}

/**
 * The part of the tree that JSON Schema can express. The rest is for the XSD alone: a pattern could run forever here, and is only
 * described.
 */
export function jsonSchemaOf(node: XsdNode): JsonObject {
  const own = node.kind === "value" ? { ...TYPES.get(node.type), ...facetLimits(node) } : {};
  const about = node.message === undefined ? {} : { description: sentences(node.message, own["description"]) };
  if (node.kind === "value") return { ...own, ...about };
  const shown = ({ node: inner, min, max, choice = [] }: XsdField): JsonObject =>
    max <= 1
      ? withAlternatives(jsonSchemaOf(inner), choice)
      : {
          type: "array",
          items: jsonSchemaOf(inner),
          ...(min > 0 && { minItems: min }),
          ...(Number.isFinite(max) && { maxItems: max }),
        };
  return {
    type: "object",
    ...about,
    properties: Object.fromEntries(node.fields.map((field) => [field.name, shown(field)])),
    required: node.fields.filter(({ min }) => min > 0).map(({ name }) => name),
    additionalProperties: false,
  };
}

const sentences = (...all: readonly (Json | undefined)[]): string => all.filter((one) => one !== undefined).join(" ");

const withAlternatives = (schema: JsonObject, choice: readonly string[]): JsonObject =>
  choice.length < 2
    ? schema
    : { ...schema, description: sentences(schema["description"], `One of ${choice.join(", ")} at most.`) };

/** The same tree with one field of each choice, for examples. */
export function withoutChoices(node: XsdNode): XsdNode {
  if (node.kind === "value") return node;
  const shown = node.fields.filter(({ name, choice = [name] }) => choice[0] === name);
  return { ...node, fields: shown.map((field) => ({ ...field, node: withoutChoices(field.node) })) };
}

function facetLimits({ type, facets }: Extract<XsdNode, { kind: "value" }>): JsonObject {
  const { type: json } = TYPES.get(type) ?? {};
  const isText = json === "string";
  const { enumeration, pattern = [], length: [exactly] = [] } = facets;
  const numberOf = (facet: string, name: string, forText: boolean) => {
    const value = Number(facets[facet]?.[0]);
    return forText !== isText || Number.isNaN(value) ? {} : { [name]: value };
  };
  return {
    ...(enumeration && { enum: isText ? [...enumeration] : enumeration.map(Number) }),
    ...(exactly !== undefined && { minLength: Number(exactly), maxLength: Number(exactly) }),
    ...numberOf("minLength", "minLength", true),
    ...numberOf("maxLength", "maxLength", true),
    ...numberOf("minInclusive", "minimum", false),
    ...numberOf("maxInclusive", "maximum", false),
    ...numberOf("minExclusive", "exclusiveMinimum", false),
    ...numberOf("maxExclusive", "exclusiveMaximum", false),
    ...(pattern.length > 0 && { description: `It matches ${pattern.map((one) => `\`${one}\``).join(" or ")}.` }),
  };
}
