import type { RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type App, openApp, serve } from "../../src/app.ts";
import { StrataError } from "../../src/protocol/index.ts";
import { type Around, child, project, provider, type Ran, strata } from "../cli/strata.ts";

/** One way to one error, through a door of Strata's. */
export interface Case {
  readonly code: string;
  readonly when: string;
  /** The section of docs/errors.md that shows what is printed here. */
  readonly shown?: string;
  readonly provoke: () => Promise<Seen>;
  /** What the sentence must hold: the value it is about, and the next step. */
  readonly message: readonly (string | RegExp)[];
}

/** What the door said. The program names the code to programs only; people see its exit and the sentence. */
export type Seen =
  | { readonly door: "cli"; readonly exit: number; readonly code?: unknown; readonly text: string }
  | {
      readonly door: "http";
      readonly status: number;
      readonly code: unknown;
      readonly retry: unknown;
      readonly text: string;
    }
  | { readonly door: "api"; readonly code: string; readonly text: string };

/** An error as programs get it. */
interface Refusal {
  readonly error: { readonly code?: unknown; readonly retry?: unknown; readonly message: string };
}

const reader = { isProgram: false };

/** Who reads what the command lines print from now on: a person, or a program that says `--json`. */
export function readAs(who: "person" | "program"): void {
  reader.isProgram = who === "program";
}

type Run = (argv: readonly string[], around: Around) => Promise<Ran>;

/** In a process of its own, which holds nothing that another test has opened. */
export const apart: Run = (argv, around) => child(argv, around).ended;

/** A command line. What it printed is told as it would be told everywhere: without this machine's paths, ports and ids. */
export async function cli(argv: readonly string[], around: Around, run: Run = strata): Promise<Seen> {
  const { code: exit, out, err } = await run(reader.isProgram ? [...argv, "--json"] : argv, around);
  const text = `${err}${out}`
    .replaceAll(around.cwd, "/home/ann/agent")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:4611")
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "2026-11-21T09:30:00.000Z")
    .replace(/\bthr_[0-9a-z]{26}\b/g, "thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .replace(/trying again in [\d.]+ s/g, "trying again in … s")
    .replace(/^· sent .*\n/gm, "")
    .trimEnd();
  if (!reader.isProgram) return { door: "cli", exit, text };
  const { error }: Refusal = JSON.parse(
    /^\{"error":.*$/m.exec(text)?.[0] ?? `{"error":{"message":${JSON.stringify(text)}}}`,
  );
  return { door: "cli", exit, code: error.code, text: error.message };
}

/** A chat of one message with the companion. */
export const chat = (cwd: string, around: Omit<Around, "cwd"> = {}, run: Run = strata): Promise<Seen> =>
  cli(["chat", "companion"], { input: "hi\n", cwd, ...around }, run);

/** Strata over a folder, as a program opens it; closed with the test. */
export async function open(folder = project(), env: Around["env"] = {}): Promise<App> {
  const app = await openApp({ folder, data: join(folder, ".strata"), env });
  onTestFinished(() => app.close());
  return app;
}

/** What a function of Strata's throws. */
export async function api(work: () => unknown): Promise<Seen> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof StrataError) return { door: "api", code: thrown.code, text: thrown.message };
    throw thrown;
  }
  throw new Error("it was let through");
}

/** A server over a new project, asked by whoever has the token. */
export async function site(folder = project(), env: Around["env"] = {}) {
  const app = await open(folder, env);
  const serving = await serve(app, 0);
  onTestFinished(() => serving.close(0));
  const authorization = `Bearer ${serving.link.split("#token=")[1]}`;
  const ask = async (
    line: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> => {
    const [method = "", path = ""] = line.split(" ");
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const given = { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers };
    return fetch(`${serving.url}${path}`, { method, headers: given, ...sent });
  };
  const refused = async (...asked: Parameters<typeof ask>): Promise<Seen> => seenIn(await ask(...asked));
  const thread = async (): Promise<string> => {
    const answer = await ask("POST /v1/threads", { agent: "companion", contact: "ann" });
    const { id }: { readonly id: string } = JSON.parse(await answer.text());
    return id;
  };
  return { ask, refused, thread, close: serving.close };
}

async function seenIn(response: Response): Promise<Seen> {
  const { error }: Refusal = JSON.parse(await response.text());
  return { door: "http", status: response.status, code: error.code, retry: error.retry, text: error.message };
}

/** A companion whose model is asked at a local server that answers as told. */
export async function answeredBy(answer: RequestListener, edit: (yaml: string) => string = (yaml) => yaml) {
  const model = await provider(answer);
  return { cwd: project((yaml) => edit(model.edit(yaml))), env: model.env };
}

/** A refusal as Anthropic's API words it. */
export function refuse(
  response: ServerResponse,
  status: number,
  { type, message, headers = {} }: { type: string; message: string; headers?: Readonly<Record<string, string>> },
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ type: "error", error: { type, message } }));
}
