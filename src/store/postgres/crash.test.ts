import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { crashServer, findPrograms, makeDatabase, stopServer, testServer } from "../../../checks/postgres.ts";
import { title } from "../../../tests/postgres.ts";
import { newFolder } from "../contract/folder.contract.ts";
import { ANN, open, PARTS, problems, ran, said, take } from "../contract/sample.contract.ts";
import { openPostgres } from "./open.ts";

const folder = join(newFolder(), "postgres");
afterAll(async () => {
  await stopServer(folder);
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

/** Retries until it is done, even if the outcome of an attempt is unknown. */
async function surely<T>(deed: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await deed();
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "store_busy" });
    }
  }
}

describe.skipIf(findPrograms() === undefined || process.env["DATABASE_URL"])(
  title("a PostgreSQL that is killed"),
  () => {
    it("law 7 in the middle of turns loses nothing that was committed, and nothing is done twice or out of order", async () => {
      mkdirSync(join(folder, ".."), { recursive: true });
      const own = await testServer(folder);
      if (own === undefined) throw new Error("there is no server");
      const store = await openPostgres(`${own.url(await makeDatabase(own))}&options=-csynchronous_commit%3Don`, {
        parts: PARTS,
      });
      const thread = await open(store, ANN);
      let crashes: Promise<void> = Promise.resolve();
      let isOver = false;
      const crashing = async (): Promise<void> => {
        for (let n = 0; n < 3; n++) {
          await setTimeout(300 + n * 170);
          await crashServer(folder, n * 100);
        }
        isOver = true;
      };
      crashes = crashing();
      const told: string[] = [];
      for (let n = 0; n < 20 || !isOver; n++) {
        const externalId = `message ${n}`;
        await surely(() => store.receive(ANN, thread.id, [said(externalId, { externalId })]));
        const claim = await surely(() => take(store, thread, { alive: () => false }));
        const { outcome } = ran(claim);
        await surely(async () => {
          const { status } = (await store.turn(ANN, claim.turn)) ?? {};
          if (status !== "done") await store.settle(claim, outcome);
        });
        told.push(externalId);
      }
      await crashes;
      const slots = await store.slots(ANN, thread.id);
      expect(slots.flatMap(({ kind, text }) => (kind === "message" ? [text] : []))).toEqual(told);
      expect(slots).toHaveLength(2 * told.length);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    }, 120_000);
  },
);
