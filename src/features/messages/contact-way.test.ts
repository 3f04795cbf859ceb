import { expect, it } from "vitest";
import { httpFixture } from "../../doors/http/index.contract.ts";

it("26.2 a contact's key writes over `http` alone: channel, line and number are the word of a program in between", async () => {
  const { json, key } = await httpFixture(["Hello.", "Hello."]);
  const token = await key("contact", { agent: "companion", contact: "ann" });
  const send = (more: object) =>
    json("POST /v1/agents/companion/messages", { token, body: { text: "Hi", follow: "queue", ...more } });
  for (const more of [{ channel: "sms" }, { number: "+49 30 1234" }, { line: "shop" }])
    expect(await send(more)).toMatchObject({ status: 403, body: { error: { code: "not_allowed" } } });
  expect((await send({ channel: "http" })).status).toBeLessThan(300);
});
