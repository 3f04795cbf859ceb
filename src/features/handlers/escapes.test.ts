import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { child, project, strata } from "../../../tests/cli/strata.ts";
import { spread } from "../../../tests/spread.ts";
import { ATTEMPTS, holds } from "../../sandbox/index.contract.ts";
import { LEVELS } from "../../sandbox/index.ts";
import { needs } from "./index.contract.ts";

/** Runs its input: its sender is as hostile as a handler can be. */
const HOSTILE = `const Body = (async () => {}).constructor;
const { stringify } = JSON;
export default async (payload, metadata, ports) => {
  const given = await Body("p", "m", "ports", payload.text)(payload, metadata, ports);
  return { payload: stringify(given ?? null) ?? "null" };
};
`;

/** Part of the agent's prompt, which must appear nowhere. */
const CANARY = "canary-of-the-harbour";

/** The cage's own tests try all of them at each level. The clock says here when the message came. */
const TRIED = spread(
  ATTEMPTS.filter(({ name }) => name !== "tells the time"),
  30,
  ({ wall, want }) => `${wall} ${Object.keys(want)}`,
);

/** How many attempts run side by side. */
const SIDE_BY_SIDE = 4;

describe.each(LEVELS)(
  "003.26 003.27 003.28 003.29 003.30 003.31 003.34 003.55 attempts to escape, through a server, at the level `%s`",
  (level) => {
    const { skip, title } = needs(level);

    it.skipIf(skip)(
      title(TRIED.title("do not succeed, and the server stays")),
      async () => {
        const handler = `    handler: { file: ./hostile.ts, level: ${level}, limits: { cpuMs: 25, calls: 3 } }\n`;
        const cwd = project((yaml) =>
          yaml
            .replace("  companion:\n", `  companion:\n${handler}`)
            .replace("layers:\n", `layers:\n      - { id: ${CANARY}, rank: 1, text: The ${CANARY} sings. }\n`),
        );
        writeFileSync(join(cwd, "hostile.ts"), HOSTILE);
        expect(await strata(["lock"], { cwd })).toMatchObject({ code: 0 });
        const server = child(["start", "--port", "0"], { cwd });
        await server.message("http://127.0.0.1:");
        const address = /http:\/\/127\.0\.0\.1:\d+/.exec(server.sofar().out)?.[0];
        const token = readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim();
        const send = async (text: string, contact: string) => {
          const response = await fetch(`${address}/v1/agents/companion/messages`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify({ contact, text }),
          });
          return await response.text();
        };
        const escaped: string[] = [];
        const waiting = [...TRIED.cases.entries()];
        const work = async (): Promise<void> => {
          for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
            const [n, { name, want, body, before = "" }] = next;
            const said = await send(`${before};${body}`, `contact-${n}`);
            if (said.includes(CANARY) || !stopped(said, want)) escaped.push(`${name}: ${said.slice(0, 400)}`);
          }
        };
        await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
        expect(escaped).toEqual([]);
        expect(await send("return 'alive'", "last")).toContain("alive");
        const { code } = await server.stop();
        expect(code).toBe(0);
      },
      300_000,
    );
  },
);

/** Whether the server's answer is one that the cage allows. */
function stopped(said: string, want: (typeof ATTEMPTS)[number]["want"]): boolean {
  const { done, error } = JSON.parse(said);
  if ("fails" in want) return want.fails.some((reason) => String(error?.message).includes(`(${reason})`));
  if ("hides" in want) return !want.hides.test(JSON.stringify(done?.text ?? error));
  return holds(want, { kind: "returned", value: String(done?.text), logs: [], cpuMs: 0 });
}
