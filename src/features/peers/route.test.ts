import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { place, strata } from "../../../tests/cli/strata.ts";
import { openApp } from "../../app.ts";
import { httpFixture } from "../../doors/http/index.contract.ts";
import { loadYaml } from "./index.contract.ts";

const agent = (name: string, type: string): string => `  ${name}:
    description: Takes ${type}.
    payload:
      type: ${type}
      schema: {type: object, properties: {name: {type: string}}, required: [name], additionalProperties: false}
    layers:
      - {id: core, rank: 0, text: Do your part.}
`;
/** Greetings have one listener under `entry`, orders two, and secrets one that is not an entry. */
const YAML = `organization: home
entry: [shouter, seller, dealer]
agents:
${agent("hidden", "Secret")}${agent("shouter", "Greeting")}${agent("seller", "Order")}${agent("dealer", "Order")}`;

const ADA = { name: "Ada" };
const folder = (): string => {
  const cwd = place();
  writeFileSync(join(cwd, "strata.yaml"), YAML);
  return cwd;
};

describe("003.62 a payload without an agent goes to the one entry that takes its type", () => {
  it("over HTTP", async () => {
    const { json, sent } = await httpFixture(["HELLO ADA"], {}, [...loadYaml(YAML).agents.values()]);
    const post = (payloadType: string, payload: unknown) =>
      json("POST /v1/payloads", { body: { payloadType, payload, contact: "ann" } });
    expect(await post("Greeting", ADA)).toMatchObject({ status: 200, body: { done: { text: "HELLO ADA" } } });
    expect(JSON.stringify(sent[0]?.messages)).toContain('{\\"name\\":\\"Ada\\"}');
    const refusal = async (type: string, payload: unknown = ADA) => {
      const { status, body } = await post(type, payload);
      return [status, JSON.stringify(body)];
    };
    expect(await refusal("Secret")).toEqual([
      404,
      expect.stringContaining("these are accepted: Greeting (shouter), Order (seller)"),
    ]);
    expect(await refusal("Greting")).toEqual([404, expect.stringContaining("did you mean `Greeting`?")]);
    expect(await refusal("Order")).toEqual([
      404,
      expect.stringContaining(
        "accepted by seller, dealer: send it to one of them by name, as a part of the type `payload`, with `strata message send --agent NAME --content` or POST /v1/agents/NAME/messages",
      ),
    ]);
    expect(await refusal("Greeting", { nam: "Ada" })).toEqual([
      400,
      expect.stringContaining("shouter does not accept this payload"),
    ]);
    expect(await refusal("Greeting", "Ada")).toEqual([400, expect.stringContaining("a JSON object")]);
    expect(sent).toHaveLength(1);
  });

  it("also `Text`, to the one entry that declares no payload", async () => {
    const greeter = "  greeter: {description: Greets., peers: [], layers: [{id: core, rank: 0, text: Greet.}]}\n";
    const yaml = YAML.replace("entry: [", "entry: [greeter, ") + greeter;
    const { json } = await httpFixture(["Hello."], {}, [...loadYaml(yaml).agents.values()]);
    const post = (payload: unknown) =>
      json("POST /v1/payloads", { body: { payloadType: "Text", payload, contact: "ann" } });
    expect(await post({ text: "hi" })).toMatchObject({ status: 200, body: { done: { text: "Hello." } } });
    const { status, body } = await post({ txt: "hi" });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("greeter does not accept this")]);
  });

  it("refuses words to an agent with a payload that is not `{ text }`, and stores none of them", async () => {
    const noted = agent("noted", "Note").replace("{name:", "{text:").replace("[name]", "[text]");
    const yaml = YAML.replace("entry: [", "entry: [noted, ") + noted;
    const { json, sent } = await httpFixture(["Noted.", "HELLO ADA"], {}, [...loadYaml(yaml).agents.values()]);
    const say = (name: string) => json(`POST /v1/agents/${name}/messages`, { body: { text: "hi", contact: "ann" } });
    const { status, body } = await say("shouter");
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringContaining(
        "shouter accepts no text, but payloads of the type Greeting: send one with `strata payload send Greeting`",
      ),
    ]);
    expect(await say("noted")).toMatchObject({ status: 200, body: { done: { text: "Noted." } } });
    const greeting = { payloadType: "Greeting", payload: ADA, contact: "ann" };
    expect(await json("POST /v1/payloads", { body: greeting })).toMatchObject({ status: 200 });
    expect(JSON.stringify(sent[1]?.messages)).not.toContain("hi");
  });

  it("on the command line", async () => {
    const cwd = folder();
    await strata(["lock"], { cwd });
    const run = (type: string) =>
      strata(["payload", "send", type, JSON.stringify(ADA), "--as", "ann", "--follow", "queue"], { cwd });
    const sent = await run("Greeting");
    expect([sent.code, sent.err]).toEqual([0, ""]);
    expect(sent.out).toContain(" waits on thr_");
    const { code, err } = await run("Order");
    expect([code, err]).toEqual([3, expect.stringContaining("accepted by seller, dealer")]);
  });

  it("from a program", async () => {
    const cwd = folder();
    await strata(["lock"], { cwd });
    const app = await openApp({ folder: cwd, env: {} });
    onTestFinished(() => app.close());
    const ask = (payloadType: string) => app.ask({ contact: "ann", payloadType, payload: ADA }).reply();
    expect(await ask("Greeting")).toContain("I have read your message");
    await expect(ask("Secret")).rejects.toMatchObject({ code: "no_listener" });
    await expect(
      app.ask({ contact: "ann", payloadType: "Greeting", payload: ADA, agent: "seller" }).reply(),
    ).rejects.toThrow("seller accepts payloads of the type Order");
  });
});
