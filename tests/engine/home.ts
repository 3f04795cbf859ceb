import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type App, openApp } from "../../src/app.ts";
import { type Script, scripted } from "../../src/models/index.ts";
import {
  agentName,
  contactId,
  type Message,
  type NewEvent,
  type Request,
  type TurnEvent,
  untrusted,
} from "../../src/protocol/index.ts";
import type { Thread } from "../../src/stores/index.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A folder of its own with the companion in it, gone when the test is. */
export function home(): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(ROOT, "blueprints/companion"), folder, { recursive: true });
  return folder;
}

/** The same, with memories looked for on each message, however few there are. */
export function searching(): string {
  const folder = home();
  const file = join(folder, "strata.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("recall: auto", "recall: search"));
  return folder;
}

/** Strata over that folder, as a program opens it. Open it again for a restart. */
export async function strata(folder: string): Promise<App> {
  const app = await openApp({ folder, data: join(folder, ".strata"), env: {} });
  onTestFinished(() => app.close());
  return app;
}

export const COMPANION = agentName("companion");

export const thread = (app: App, contact = "ann", key = "main"): Promise<Thread> =>
  app.runtime.open(app.operator, { agent: COMPANION, contact: contactId(contact), channel: "test", key });

export const said = (text: string, at = Date.now()): NewEvent => ({
  kind: "message",
  trust: "contact",
  channel: "test",
  content: [{ type: "text", text: untrusted(text) }],
  at,
});

/** One message, one turn; a script speaks for the model where one is given, else the rehearsal model does. */
export async function say(
  app: App,
  to: Thread,
  text: string,
  script?: readonly Script<Request>[],
  wire?: string,
): Promise<{ readonly text: string; readonly sent: readonly Request[]; readonly events: readonly TurnEvent[] }> {
  await app.runtime.post(app.operator, to, [said(text)]);
  const speaker = script && scripted(script, wire);
  const events: TurnEvent[] = [];
  for await (const event of app.runtime.run(app.operator, to, speaker === undefined ? {} : { model: speaker.model }))
    events.push(event);
  const end = events.at(-1);
  if (end?.type !== "done") throw new Error(end?.type === "failed" ? end.error.message : "the turn did not end");
  return { text: end.text, sent: speaker?.sent ?? [], events };
}

/** All text of a request's part, as the model reads it. */
export const systemText = ({ prefix }: Request): string => prefix.system.map((block) => block.text).join("\n");
export const tailText = ({ tail }: Request): string => tail.map((part) => part.text).join("\n");
export const messagesText = ({ messages }: Request): string => messages.map(messageText).join("\n");

export const messageText = ({ parts }: Message): string =>
  parts.map((part) => (part.type === "text" || part.type === "result" ? part.text : "")).join("\n");
