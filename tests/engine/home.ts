import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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
import type { Thread } from "../../src/store/index.ts";

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

/** Words that must not be found any more, by what they stand for. */
export type Canaries = Readonly<Record<string, string>>;

/** Only as it was written. */
export const plainly = (word: string): readonly Form[] => [[JSON.stringify(word), Buffer.from(word)]];

/** Where a canary still is in a folder: in the bytes of any file, or in the name of a file or a folder, in any form that a text takes on its way. */
export function canariesIn(folder: string, canaries: Canaries, forms = formsOf): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const places = names.flatMap((name) => {
    const path = join(folder, name);
    const own = { at: `the name of ${name}`, bytes: Buffer.from(name) };
    return statSync(path).isFile() ? [own, { at: name, bytes: readFileSync(path) }] : [own];
  });
  return Object.entries(canaries).flatMap(([what, word]) =>
    forms(word).flatMap(([form, bytes]) =>
      places.filter((one) => one.bytes.includes(bytes)).map(({ at }) => `${what} as ${form} in ${at}`),
    ),
  );
}

type Form = readonly [form: string, bytes: Buffer];

/** Each form once: most words are written the same way in most of them. */
function formsOf(word: string): readonly Form[] {
  const forms = new Map<string, Form>();
  for (const text of new Set([
    word,
    word.toLowerCase(),
    word.normalize("NFKD"),
    word.normalize("NFKD").toLowerCase(),
  ])) {
    const bytes = Buffer.from(text);
    const escaped = JSON.stringify(text).slice(1, -1);
    const ascii = escaped.replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const digest = createHash("sha256").update(text).digest().subarray(0, 8);
    const terms = text.replace(/[^\p{L}\p{N}]+/gu, " ");
    const hex = [bytes, digest].flatMap((one) => [one.toString("hex"), one.toString("hex").toUpperCase()]);
    for (const form of [text, escaped, ascii, encodeURIComponent(text), terms, ...base64In(bytes), ...hex])
      forms.set(form, [JSON.stringify(form), Buffer.from(form)]);
    forms.set(`wide ${text}`, ["UTF-16", Buffer.from(text, "utf16le")]);
    forms.set(`wide, big end first ${text}`, ["UTF-16", Buffer.from(text, "utf16le").swap16()]);
    forms.set(`digest ${text}`, ["its digest's bytes", digest]);
  }
  return [...forms.values()];
}

/** The signs that stand for the bytes alone, whatever comes before and after them. */
function base64In(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const full = Math.floor(whole.length / 3) * 4;
    const from = before === 0 ? 0 : 4;
    return [whole.toString("base64").slice(from, full), whole.toString("base64url").slice(from, full)];
  });
}
