import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { projectInCode } from "../../app/entry/agents.ts";
import { agentName, type Json, type Request, untrusted } from "../../protocol/index.ts";
import { asks, loadYaml, organism } from "./index.contract.ts";
import { compileXsd } from "./xsd/compile-xsd.ts";

const XSD = `<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:greet" targetNamespace="urn:greet">
  <xs:simpleType name="Mood">
    <xs:restriction base="xs:string"><xs:enumeration value="warm"/><xs:enumeration value="formal"/></xs:restriction>
  </xs:simpleType>
  <xs:complexType name="Item">
    <xs:sequence>
      <xs:element name="sku"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}[0-9]{3}"/></xs:restriction></xs:simpleType></xs:element>
      <xs:element name="count" type="xs:positiveInteger"/>
    </xs:sequence>
  </xs:complexType>
  <xs:element name="Greeting">
    <xs:annotation><xs:documentation>A greeting to be shouted.</xs:documentation></xs:annotation>
    <xs:complexType>
      <xs:sequence>
        <xs:element name="name"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="40"/></xs:restriction></xs:simpleType></xs:element>
        <xs:element name="mood" type="t:Mood" minOccurs="0"/>
        <xs:element name="on" type="xs:date" minOccurs="0"/>
        <xs:element name="item" type="t:Item" minOccurs="0" maxOccurs="3" form="qualified"/>
        <xs:choice><xs:element name="loud" type="xs:boolean"/><xs:element name="volume" type="xs:int"/></xs:choice>
      </xs:sequence>
      <xs:attribute name="id" type="xs:token" use="required"/>
    </xs:complexType>
  </xs:element>
</xs:schema>`;

const YAML = `organization: home
entry: [greeter, shouter]
agents:
  greeter:
    description: Greets people.
    peers: [shouter]
    layers:
      - {id: core, rank: 0, text: You are a friendly greeter.}
  shouter:
    description: Says it loudly.
    payload: {type: Greeting, xsd: greeting.xsd}
    layers:
      - {id: core, rank: 0, text: SHOUT.}
`;
const load = (xsd = XSD) => loadYaml(YAML, { "greeting.xsd": xsd });
const shouterOf = (project: ReturnType<typeof load>) => project.agents.get(agentName("shouter"));
const result = (request: Request | undefined) => JSON.stringify(request?.messages.at(-1));
const GOOD = { "@id": "g1", loud: true, name: "Ada <&> \u0000 \ud800 ☃", item: [{ count: 2, sku: "AB123" }] };

describe("003.14 a payload that an XSD declares", () => {
  it("is shown to the model as JSON Schema, with an example, and stands in version and lock", async () => {
    const { open, say, sentTo } = await organism(load(), { greeter: ["Hello."] });
    await say(await open(), { content: [{ type: "text", text: untrusted("Hello.") }] });
    const block = sentTo("greeter")[0]?.prefix.system[1]?.text ?? "";
    expect(block).toContain(
      'For example: {"@id":"…","item":[{"count":1,"sku":"…"}],"loud":true,"mood":"warm","name":"…","on":"2026-01-31"}',
    );
    expect(sentTo("greeter")[0]?.prefix.tools[0]?.input).toMatchObject({
      type: "object",
      description: "A greeting to be shouted.",
      required: ["name", "@id"],
      additionalProperties: false,
      properties: {
        name: { type: "string", maxLength: 40 },
        mood: { enum: ["warm", "formal"] },
        on: { format: "date" },
        item: {
          type: "array",
          maxItems: 3,
          items: { properties: { sku: { description: "It matches `[A-Z]{2}[0-9]{3}`." } } },
        },
      },
    });
    const changed = load(XSD.replace("[0-9]{3}", "[0-9]{4}"));
    const versions = (project: ReturnType<typeof load>) => [...project.agents.values()].map(({ version }) => version);
    expect(versions(changed)[0]).not.toBe(versions(load())[0]);
    expect(versions(changed)[1]).not.toBe(versions(load())[1]);
    expect(load().locked.get(agentName("shouter"))).toEqual({ xsd: XSD });
  });

  const findings: readonly (readonly [string, Json, RegExp | undefined])[] = [
    ["what is right, whatever its texts hold", GOOD, undefined],
    [
      "the order of its fields is the XSD's",
      { name: "a", item: [{ sku: "AB123", count: 1 }], "@id": "x", volume: 1 },
      undefined,
    ],
    ["a field too many", { ...GOOD, evil: 1 }, /evil/],
    ["what the JSON Schema refuses first", { ...GOOD, name: "a".repeat(41) }, /`name` must have at most 40 characters/],
    [
      "a pattern, with its place",
      { ...GOOD, item: [...GOOD.item, { sku: "CANARY", count: 1 }] },
      /`item\.1\.sku` breaks the XSD's rule `pattern`: `\[A-Z\]\{2\}\[0-9\]\{3\}`/,
    ],
    [
      "a choice of which both are there",
      { ...GOOD, volume: 1 },
      /`volume` cannot appear beside the others, by the XSD/,
    ],
    [
      "a choice of which none is there",
      { "@id": "x", name: "a" },
      /the payload must have loud or volume, by the XSD\./,
    ],
    ["markup", { ...GOOD, item: [{ sku: "</sku><sku>AB123", count: 1 }] }, /`item\.0\.sku`/],
    ["a date that no calendar has", { ...GOOD, on: "2026-02-30" }, /`on`/],
    [
      "all that is wrong at once, and what is missing",
      { name: "a".repeat(41), evil: 1, mood: "cold", item: [{ sku: "ab" }, { sku: "AB123", count: 0 }] },
      new RegExp(
        [
          "`name` must have at most 40 characters",
          '`mood` must be one of "warm", "formal"',
          "`item.0.count` is missing: it must be a number",
          "`item.1.count` must be at least 1",
          "`@id` is missing: it must be text",
          'the payload may not have "evil"',
          "`item.0.sku` breaks the XSD's rule `pattern`: `\\[A-Z\\]\\{2\\}\\[0-9\\]\\{3\\}`",
          "the payload must have loud or volume, by the XSD\\. ",
        ].join("; "),
      ),
    ],
    [
      "what follows a misplaced element",
      { ...GOOD, volume: 1, item: [{ sku: "ab", count: 1 }], on: "2026-02-30" },
      /`on` .*; `item\.0\.sku` breaks .*; `volume` cannot appear/,
    ],
  ];
  it.each(findings)("003.36 judges %s, with the finding and one more try", async (_, payload, finding) => {
    const { open, say, sentTo, asked } = await organism(load(), {
      greeter: [asks("shouter", payload, "a"), ...(finding ? [asks("shouter", GOOD, "b")] : []), "Done."],
      shouter: ["HELLO"],
    });
    await say(await open(), { content: [{ type: "text", text: untrusted("Greet Ada.") }] });
    if (finding) {
      expect(JSON.parse(result(sentTo("greeter")[1]) ?? "").parts[0].text).toMatch(finding);
      expect(result(sentTo("greeter")[1])).toMatch(/shouter does not accept this payload.*once more/);
      expect(result(sentTo("greeter")[1])).not.toContain("CANARY");
    }
    expect(await asked("shouter")).toHaveLength(1);
    expect(JSON.stringify(sentTo("shouter")[0]?.messages)).toContain("AB123");
  });

  it("is judged for what comes from outside, too", async () => {
    const { open, post } = await organism(load(), {});
    const thread = await open("shouter");
    const send = (payload: Json) => post(thread, { content: [{ type: "payload", payloadType: "Greeting", payload }] });
    await expect(send({ ...GOOD, item: [{ sku: "ab", count: 1 }] })).rejects.toThrow(
      "`item.0.sku` breaks the XSD's rule",
    );
    await send(GOOD);
  });

  it("accepts numbers that JSON writes with an exponent where the XSD wants a decimal", async () => {
    const xsd = XSD.replace('"xs:boolean"/>', '"xs:decimal"/>').replace(
      'type="xs:token" use="required"',
      'type="xs:decimal"',
    );
    const { open, post } = await organism(load(xsd), {});
    const thread = await open("shouter");
    const { loud: _, ...rest } = GOOD;
    for (const loud of [1e-7, -1.25e-10, 1e21, -1.5e21, 0, 12.5]) {
      const payload = { ...rest, loud, "@id": loud };
      await post(thread, { content: [{ type: "payload", payloadType: "Greeting", payload }] });
    }
    const wrong = { ...rest, loud: "1e-7", "@id": 1 };
    await expect(
      post(thread, { content: [{ type: "payload", payloadType: "Greeting", payload: wrong }] }),
    ).rejects.toThrow("`loud` must be a number");
  });

  it("is read again if it was not read in time", () => {
    const late = XSD.replace("A greeting to be shouted.", "A greeting that comes late.");
    expect(compileXsd(late, undefined, 1)).toEqual({
      problem:
        "the XSD could not be read within 0.001 seconds; make it simpler, or try again when the machine is less busy",
    });
    expect(compileXsd(late, undefined)).toMatchObject({ root: "Greeting" });
  });

  it("cannot be held up by a pattern that takes for ever", async () => {
    const { open, post } = await organism(load(XSD.replace("[A-Z]{2}[0-9]{3}", "(a|aa)+b")), {});
    const thread = await open("shouter");
    const began = performance.now();
    const payload = { ...GOOD, item: [{ sku: "a".repeat(60), count: 1 }] };
    await expect(post(thread, { content: [{ type: "payload", payloadType: "Greeting", payload }] })).rejects.toThrow(
      "shouter does not accept this payload",
    );
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it.each([
    [
      "an import",
      XSD.replace("<xs:simpleType", '<xs:import namespace="x" schemaLocation="file:///etc/passwd"/><xs:simpleType'),
      "put all types into one file",
    ],
    ["a DOCTYPE", XSD.replace("<xs:schema", '<!DOCTYPE a [<!ENTITY a "a">]><xs:schema'), "DOCTYPE"],
    ["a type without counterpart", XSD.replace('type="xs:date"', 'type="xs:gYear"'), "xs:gYear has no counterpart"],
    [
      "a type that contains itself",
      XSD.replace('name="count" type="xs:positiveInteger"', 'name="count" type="t:Item"'),
      "the type Item contains itself",
    ],
    [
      "attributes of any name",
      XSD.replace("<xs:attribute", "<xs:anyAttribute/><xs:attribute"),
      "xs:anyAttribute has no counterpart",
    ],
    ["text that is no XML", "{}", "cannot be the type of a payload"],
    ["what is no schema", "<a/>", "its root is not an xs:schema"],
    [
      "elements of which none is named",
      XSD.replace("</xs:schema>", '<xs:element name="B" type="t:Item"/></xs:schema>').replace(
        'name="Greeting"',
        'name="Other"',
      ),
      "it declares 2 elements (Other, B)",
    ],
    ["a schema that libxml2 refuses", XSD.replace('value="40"', 'value="forty"'), "cannot be the type of a payload"],
    ["a tower of types", tower(), "more than 1000 fields"],
  ])("refuses %s when the agents are loaded, with its line", (_, xsd, message) => {
    expect(() => load(xsd)).toThrow(message);
    expect(() => load(xsd)).toThrow(/strata\.yaml:11:/);
  });

  it("needs exactly one of `schema`, `file` and `xsd`", () => {
    const both = YAML.replace("xsd: greeting.xsd", "xsd: greeting.xsd, file: a.json");
    expect(() => loadYaml(both, { "greeting.xsd": XSD })).toThrow("needs exactly one of `schema`, `file` and `xsd`");
  });
});

/** Ten types, each of which has ten fields of the next. */
function tower(): string {
  const fields = (type: string) =>
    Array.from({ length: 10 }, (_, i) => `<xs:element name="f${i}" type="${type}"/>`).join("");
  const types = Array.from(
    { length: 10 },
    (_, i) =>
      `<xs:complexType name="T${i}"><xs:sequence>${fields(i === 9 ? "xs:int" : `t:T${i + 1}`)}</xs:sequence></xs:complexType>`,
  );
  return XSD.replace("<xs:simpleType", `${types.join("")}<xs:element name="Top" type="t:T0"/><xs:simpleType`)
    .replace('name="Greeting"', 'name="Greet"')
    .replace('name="Top"', 'name="Greeting"');
}

describe("a payload that a program declares", () => {
  const project = (schema: unknown) =>
    projectInCode(
      {
        organization: "home",
        agents: {
          shouter: {
            description: "Loud.",
            payload: { type: "Greeting", schema },
            layers: [{ id: "core", rank: 0, text: "SHOUT." }],
          },
        },
      },
      { env: {}, folder: mkdtempSync(join(tmpdir(), "strata-payload-")) },
    );
  const GREETING = z.object({
    name: z.string().max(40),
    mail: z.email().optional(),
    volume: z.int().max(11).default(3),
  });

  it("is a schema of Zod, or of any library that writes Standard JSON Schema", () => {
    const { properties, required } = shouterOf(project(GREETING))?.payload?.schema ?? {};
    expect({ properties, required }).toMatchObject({
      properties: { name: { type: "string", maxLength: 40 }, mail: { format: "email" }, volume: { maximum: 11 } },
      required: ["name"],
    });
    const input = () => ({ $schema: "x", type: "object", properties: { name: { type: "string" } } });
    const other = { "~standard": { version: 1, vendor: "other", jsonSchema: { input, output: input } } };
    expect(shouterOf(project(other))?.payload?.schema).toEqual({
      type: "object",
      properties: { name: { type: "string" } },
    });
  });

  it("is refused where it cannot be written as a JSON Schema", () => {
    expect(() => project(z.object({ at: z.date() }))).toThrow("cannot be written as a JSON Schema");
    expect(() => project({ "~standard": { version: 1, vendor: "other", validate: () => ({ value: 1 }) } })).toThrow(
      "is a Standard Schema without a JSON Schema",
    );
  });
});
