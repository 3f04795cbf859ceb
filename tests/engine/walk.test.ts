import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { App } from "../../src/app.ts";
import type { TurnEvent } from "../../src/protocol/index.ts";
import type { RebuiltRequest } from "../../src/store/index.ts";
import { home, messageText, said, strata, tailText, thread } from "./home.ts";

const PAGE = join(import.meta.dirname, "../../docs/walk.md");
const BLOCK = /<!-- walk: (\w+) -->\n```(\w+)\n([\s\S]*?)```/g;

const SATURDAY = Date.UTC(2026, 10, 21, 9, 30);
const SUNDAY = SATURDAY + 86_400_000;

/** One message through the whole way; gives the turn's events and its requests as the record has them. */
async function walk(app: App, text: string, at: number): Promise<{ events: TurnEvent[]; requests: RebuiltRequest[] }> {
  app.setClock(at);
  const ann = await thread(app, "ann", `of ${new Date(at).toISOString().slice(0, 10)}`);
  await app.runtime.post(app.operator, ann, [said(text, at)]);
  const events: TurnEvent[] = [];
  for await (const event of app.runtime.run(app.operator, ann)) events.push(event);
  const turn = (await app.runtime.turns(app.operator, ann.id)).at(-1);
  if (turn === undefined) throw new Error("no turn is recorded");
  const requests = turn.requests.map(({ n }) => app.runtime.rebuilt(app.operator, turn.id, n));
  return { events, requests: await Promise.all(requests) };
}

function ledgerLines(events: readonly TurnEvent[]): string {
  const ledger = events.flatMap((event) => (event.type === "compiled" ? [event.ledger] : [])).at(-1);
  const line = ({ section, place, trust, fate, tokens }: NonNullable<typeof ledger>["entries"][number]) =>
    `${section.padEnd(11)} ${place.padEnd(10)} ${trust.padEnd(9)} ${fate.padEnd(5)} ${String(tokens).padStart(5)}`;
  return [...(ledger?.entries ?? []).map(line), `${ledger?.tokens} tokens of ${ledger?.limit} that may be sent`].join(
    "\n",
  );
}

/** What the page shows, made by the engine. */
async function blocks(): Promise<Readonly<Record<string, string>>> {
  const app = await strata(home());
  const saturday = await walk(app, "Please remember that my bicycle is green.", SATURDAY);
  const sunday = await walk(app, "What colour is my bicycle?", SUNDAY);
  const [first] = sunday.requests;
  const [, second] = saturday.requests;
  if (first === undefined || second === undefined) throw new Error("a request is missing");
  const { request } = first;
  const body = await app.bodyOf(request, first.wire);
  const messages: unknown[] = JSON.parse(body).messages;
  const done = sunday.events.at(-1);
  return {
    headings: request.prefix.system
      .map(({ scope, text }) => [`shared by ${scope}:`, ...(text.match(/^# Layer .*$/gm) ?? [])].join("\n"))
      .join("\n"),
    start: messageText(request.messages[0] ?? { role: "user", parts: [] }),
    message: messageText(request.messages.at(-1) ?? { role: "user", parts: [] }),
    tail: tailText(request),
    ledger: ledgerLines(sunday.events),
    body: JSON.stringify(messages.at(-1), null, 2),
    round: JSON.stringify(second.request.messages.slice(1), null, 2),
    done: done?.type === "done" ? done.text : "",
  };
}

it("docs/walk.md shows what the engine really makes, and every file it names exists", async () => {
  const page = readFileSync(PAGE, "utf8");
  const made = await blocks();
  const fresh = page.replace(
    BLOCK,
    (_, name: string, language: string) => `<!-- walk: ${name} -->\n\`\`\`${language}\n${made[name]}\n\`\`\``,
  );
  if (process.env["STRATA_DOCS"] === "write") writeFileSync(PAGE, fresh);
  else expect(page).toBe(fresh);
  expect([...page.matchAll(BLOCK)].map(([, name]) => name)).toEqual(Object.keys(made));
  for (const [, path] of page.matchAll(/\]\((\.\.\/[^)#]+)\)/g))
    expect(existsSync(join(PAGE, "..", path ?? "")), path).toBe(true);
});
