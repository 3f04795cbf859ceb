import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { openApp } from "../../../src/app.ts";
import { DRAFT_API } from "../../../src/features/drafts/index.ts";
import { LEARNING_API } from "../../../src/features/learning/index.ts";
import { MESSAGE_API } from "../../../src/features/messages/index.ts";
import { scriptedModel } from "../../../src/models/index.ts";
import { agentName, contactId, draftId, untrusted } from "../../../src/protocol/index.ts";
import { defineSource } from "../../../src/turn/sources/index.ts";
import type { Arm } from "./run.ts";

const AGENT = agentName("desk");
const START = Date.UTC(2026, 0, 5, 9);
const MINUTE = 60_000;
const MOST_CALLS = 5_000;
const CHANNEL = "chat";
/** Recorded turns that a new text is tried on. */
const TRIED = 6;

/** What a contact writes, and how it comes. */
export interface Said {
  readonly contact: string;
  readonly text: string;
  readonly kind?: "message" | "call-ended";
  readonly conversation: string;
}

interface Draft {
  readonly id: string;
  readonly text: string;
}

/** The programs in the place of a model: each sees the text of its request alone. */
export interface Speakers {
  readonly answer: (request: string) => string;
  /** Undefined for a request that is none of a digest. */
  readonly digest: (request: string) => string | undefined;
}

/** Everything of a request, as one text. */
const textOf = ({ prompt }: LanguageModelV4CallOptions): string =>
  prompt
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    )
    .join("\n");

const BASE = [
  { id: "shop", rank: 10, text: "You answer for a bicycle shop. Follow what you have learned, line by line." },
  { id: "clock", rank: 50, source: "clock" },
] as const;
const LEARNED = { id: "learned", rank: 55, source: "learning" } as const;
const FITTING = { id: "corrections", rank: 60, source: "corrections", limit: 8 } as const;
const NEWEST = { id: "corrections", rank: 60, source: "newest" } as const;

const layersOf = (arm: Arm) => [...BASE, ...(arm === "off" ? [] : [LEARNED, arm === "newest" ? NEWEST : FITTING])];

/** An agent whose replies are drafts, over a database of its own, and the person who reads them. */
export async function openDesk(arm: Arm, mode: "auto" | "approval", { answer, digest }: Speakers) {
  const data = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "strata-learning-"));
  const says = (options: LanguageModelV4CallOptions): string => {
    const request = textOf(options);
    return digest(request) ?? answer(request);
  };
  const newest: { of: (contact: string) => Promise<readonly string[]> } = { of: async () => [] };
  const app = await openApp({
    data,
    folder: data,
    env: {},
    model: scriptedModel(Array.from({ length: MOST_CALLS }, () => says)),
    sources: [defineSource({ name: "newest", trust: "contact", load: ({ scope }) => newest.of(scope.contact) })],
    config: {
      organization: "shop",
      agents: {
        desk: {
          description: "Answers customers of a bicycle shop.",
          layers: layersOf(arm),
          recall: "none",
          delivery: { way: "draft" },
          ...(arm !== "off" && { learning: { mode, trial: { turns: TRIED } } }),
        },
      },
    },
  });
  const { runtime, operator } = app;
  const [drafts, learning, messages] = [runtime.use(DRAFT_API), runtime.use(LEARNING_API), runtime.use(MESSAGE_API)];
  newest.of = async (contact) =>
    (await learning.lessons(operator, AGENT))
      .filter(({ contacts, state }) => state === "open" && contacts.includes(contactId(contact)))
      .sort((a, b) => b.at - a.at)
      .slice(0, FITTING.limit)
      .map(
        ({ situation, wrong, instead }) =>
          `The contact wrote: ${situation}\nYou wrote: ${wrong}\nThis was sent instead: ${instead}`,
      );
  let minutes = 0;
  return {
    draftFor: async ({ contact, text, kind = "message", conversation }: Said): Promise<Draft> => {
      app.setClock(START + ++minutes * 30 * MINUTE);
      const to = { agent: AGENT, contact: contactId(contact), channel: CHANNEL, key: conversation };
      const content = [{ type: "text", text: untrusted(text) }] as const;
      const sending = messages.sendMessage(operator, { to, content, kind, trust: "contact", follow: "run" });
      for await (const event of sending) if (event.type === "failed") throw event.error;
      const [draft] = await drafts.newestDrafts(operator, { agent: AGENT, status: "open", limit: 1 });
      if (draft === undefined) throw new Error(`no draft came of ${JSON.stringify(text)}`);
      return draft;
    },
    decide: async ({ id, text: wrote }: Draft, text: string): Promise<void> => {
      const verdict = text === wrote ? "approved" : "edited";
      await drafts.decideDraft(operator, draftId(id), { verdict, ...(verdict === "edited" && { text }) });
    },
    /** Folds lessons into the rules, and lets an operator who trusts the gate approve what waits. */
    digest: async (): Promise<string> => {
      const { outcome, version, because } = await learning.digest(operator, AGENT);
      if (outcome !== "proposed" || version === undefined || mode === "auto") return `${outcome}: ${because}`;
      await learning.decideVersion(operator, AGENT, {
        n: version,
        verdict: "approved",
        reason: untrusted("it passed"),
      });
      return `approved: version ${version}`;
    },
    policies: async (): Promise<readonly (readonly ["active" | "waiting", string])[]> =>
      (await learning.versions(operator, AGENT)).map(({ status, rules }) => [
        status === "proposed" ? "waiting" : "active",
        rules.map(({ text }) => text).join("\n"),
      ]),
    close: async (): Promise<void> => {
      await app.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
