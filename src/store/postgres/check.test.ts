import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { ANN, exchange, newMemory, open, PARTS, problems, remembered } from "../contract/sample.contract.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { plain } from "../statement.ts";
import { connect, EVERYTHING } from "./database.ts";
import { openPostgres } from "./open.ts";

const { make, url } = databases();

describe.skipIf(server === undefined)(title("verify on PostgreSQL"), () => {
  it("finds what another program changed: a text, a link, a word of the index, a vector", async () => {
    const address = url(await make());
    const store = await openPostgres(address, { parts: PARTS });
    await exchange(store, await open(store, ANN), "I like jasmine tea");
    await store.saveMemory(ANN, newMemory(), remembered("Ann likes jasmine tea"));
    const model = "some:model";
    const waiting = await store.waitingTexts(ANN, model, 10);
    const vectors = (waiting?.texts ?? []).map(({ memory, part }) => ({ memory, part, values: Float32Array.of(1, 0) }));
    if (waiting) await store.saveVectors(ANN, model, { from: waiting.from, upto: waiting.upto, vectors });
    expect(await problems(store, ANN.org)).toEqual([]);
    const db = await connect(address, { random: randomBytes, limits: MEMORY_LIMITS, patience: 5_000 });
    const found = async (...changes: readonly string[]): Promise<string> => {
      for (const change of changes) await db.within(EVERYTHING).write((tx) => tx.run(plain(change)));
      return (await problems(store, ANN.org)).join("\n");
    };
    expect(await found(`delete from unit_word where term = (select min(term) from unit_word)`)).toMatch(
      /index lacks words of its units: \d+$/,
    );
    expect(await found(`insert into unit_word values ('secret', (select min(id) from unit))`)).toMatch(
      /has words that no unit has: 1$/,
    );
    expect(await found(`update vector set value = '\\x00'::bytea where id = (select min(id) from vector)`)).toMatch(
      /the vector \d+ is not/,
    );
    expect(await found(`update piece set text = 'forged' where text like '%jasmine%'`)).toMatch(/piece|text/);
    expect(await found(`update chain set body = '{}' where seq = 1`)).toMatch(/link 1/);
    await db.close();
    await store.close();
  });
});
