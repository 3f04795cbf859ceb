import { expect, it } from "vitest";
import { growsLinearly } from "../../protocol/index.contract.ts";
import { collect, endOf, message, OPERATOR, testRuntime } from "../index.contract.ts";

it("25.2 storing messages and a turn over them take processor time in proportion to their number", async () => {
  await growsLinearly(async (n) => {
    const { runtime, open, store } = await testRuntime(["Yes."]);
    const thread = await open();
    await runtime.post(
      OPERATOR,
      thread,
      Array.from({ length: n }, (_, i) => message(`Message ${i} says ${"this and that ".repeat(20)}`, i)),
    );
    expect(endOf(await collect(runtime.run(OPERATOR, thread))).type).toBe("done");
    await store.close();
  }, 200);
}, 60_000);
