import { readFileSync } from "node:fs";
import { recoverMessageAddress } from "viem/utils";
import { expect, it } from "vitest";
import { blueprintFolder } from "../../agents/index.ts";
import { loadProject } from "../../app/entry/agents.ts";
import { agentName, ERRORS, orgId } from "../../protocol/index.ts";
import { at, httpFixture } from "./index.contract.ts";

const PAGE = readFileSync(new URL("../../../docs/http.md", import.meta.url), "utf8");
const [, SECTION = ""] = /^## Signed messages\n([\s\S]*?)^## /m.exec(PAGE) ?? [];

/** The page's example: the signed block, the posted body, and the signature's owner. */
function documented() {
  const [, signed = ""] = /^```\n([\s\S]*?)\n```$/m.exec(SECTION) ?? [];
  const [, body = ""] = /^```json\n([\s\S]*?)\n```$/m.exec(SECTION) ?? [];
  const [address = ""] = /\b0x[0-9a-fA-F]{40}\b/.exec(SECTION) ?? [];
  return { signed, body, address };
}

/** The sovereign behind HTTP, and a thread of the documented sender. */
async function sovereign() {
  const agent = loadProject(blueprintFolder("sovereign"), { env: {} }).agents.get(agentName("sovereign"));
  if (agent === undefined) throw new Error("the sovereign is not shipped");
  const on = await httpFixture(["It comes."], {}, [{ ...agent, org: orgId("home"), tools: [] }]);
  const opened = await on.json("POST /v1/threads", {
    body: { agent: "sovereign", contact: documented().address },
  });
  const post = (raw: string) => {
    const body = { ...JSON.parse(raw), thread: at(opened.body, "id"), follow: "queue" };
    return on.json("POST /v1/agents/sovereign/messages", { body });
  };
  return { ...on, post };
}

it("docs/http.md shows a signed message with the very bytes that are signed, and a body that is proven as it stands", async () => {
  const { signed, body, address } = documented();
  const { signature } = Object(JSON.parse(body));
  expect(await recoverMessageAddress({ message: signed, signature })).toBe(address);
  const { post, store } = await sovereign();
  const posted = await post(body);
  expect(posted).toMatchObject({ status: 202, body: { event: { proof: "proven" } } });
  expect((await post(body)).body).toEqual(posted.body);
  await store.close();
});

it("a sender's log tells over HTTP which messages were proven, by the address however it is written", async () => {
  const { body, address } = documented();
  const { post, json, store } = await sovereign();
  await json("POST /v1/agents/sovereign/credits", { body: { dollars: 20 } });
  await post(body);
  await post('{"text": "And butter."}');
  await json("POST /v1/agents/sovereign/inbox/run");
  for (const written of [address, address.toLowerCase()]) {
    const log = await json(`GET /v1/agents/sovereign/logs/${written}`);
    expect(at(log.body, "log", "entries")).toMatchObject([
      { body: "Please deliver the bread.", proof: "proven" },
      { body: "And butter.", proof: "claimed" },
    ]);
  }
  const wrong = `0x${address
    .slice(2)
    .toLowerCase()
    .replace(/[a-f]/, (one) => one.toUpperCase())}`;
  expect(await json(`GET /v1/agents/sovereign/logs/${wrong}`)).toMatchObject({
    status: 400,
    body: { error: { code: "invalid_id", message: expect.stringContaining(address) } },
  });
  await store.close();
});

it.each([
  ["another text", /deliver/, "bring", "signature_invalid"],
  ["another id", /"m-1"/, '"m-2"', "signature_invalid"],
  ["the id alone, and nobody's signature", /"signature": "0x\w{130}"/, '"signature": "0x00"', "signature_invalid"],
] as const)("what docs/http.md signs is no proof for %s", async (_, part, other, code) => {
  const { post, store } = await sovereign();
  const changed = documented().body.replace(part, other);
  expect(changed).not.toBe(documented().body);
  expect(await post(changed)).toMatchObject({ status: ERRORS[code].status, body: { error: { code } } });
  expect(PAGE).toMatch(new RegExp(`^\\| ${ERRORS[code].status} \\| .*\`${code}\``, "m"));
  await store.close();
});
