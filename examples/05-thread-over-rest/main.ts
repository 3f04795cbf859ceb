// A conversation over HTTP, as in a program in any language: the server is a separate process, and this one only needs
// `fetch`. It opens a thread, posts a message and reads the turn as server-sent events while it runs, then asks for an explanation.
// Without a key in the environment the built-in rehearsal answers. docs/http.md lists all routes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = mkdtempSync(join(tmpdir(), "strata-example-"));

// In a project of your own: spawn("npx", ["strata", "start", "--port", "0", "--json"]). An empty folder serves the companion.
const program = join(import.meta.dirname, "../../src/doors/cli/main.ts");
const server = spawn(process.execPath, [program, "start", "--port", "0", "--json"], {
  cwd: folder,
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = once(server, "exit");

try {
  const { url, tokenFile } = await listening(server);
  // Whoever has the token is the operator; it is sent only in this header.
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
  const ask = async (path: string, body?: object, accept = "application/json"): Promise<Response> => {
    const response = await fetch(`${url}/v1/${path}`, {
      headers: { authorization, accept, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    // An error says what to do next: {"error": {"code", "message", "details", "retry"}}.
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return response;
  };

  const opened = await ask("threads", { agent: "companion", contact: "ada" });
  const thread: { readonly id: string } = JSON.parse(await opened.text());
  console.log(`thread ${thread.id}`);

  // `externalId` is the caller's own name for the message: sent twice, it is stored once and answered once.
  const message = { thread: thread.id, text: "Please remember that my bicycle is green.", externalId: "m1" };
  let turn = "";
  const stream = await ask("agents/companion/messages", message, "text/event-stream");
  for await (const { type, data } of events(stream)) {
    if (type === "turn-start") turn = String(data["turn"]);
    console.log(`${type.padEnd(11)} ${short(data)}`);
  }

  const recorded: Recorded = JSON.parse(await (await ask(`turns/${turn}`)).text());
  for (const { n, ledger } of recorded.requests) {
    console.log(`request ${n}: ${ledger.tokens} of ${ledger.limit} tokens`);
    for (const { section, place, trust, fate, tokens } of ledger.entries)
      console.log(`  ${section.padEnd(12)} ${place.padEnd(11)} ${trust.padEnd(9)} ${fate.padEnd(6)} ${tokens}`);
  }
} finally {
  // The server lets its turns end, and reports that it stopped.
  server.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true });
}

/** What this program reads of a recorded turn; `GET /v1/openapi.json` describes all of it. */
interface Recorded {
  readonly requests: readonly { readonly n: number; readonly ledger: Ledger }[];
}

interface Ledger {
  readonly tokens: number;
  readonly limit: number;
  readonly entries: readonly {
    readonly section: string;
    readonly place: string;
    readonly trust: string;
    readonly fate: string;
    readonly tokens: number;
  }[];
}

/** With `--json`, the first line of the server has its address and the path of its token. */
async function listening({ stdout }: ChildProcess): Promise<{ readonly url: string; readonly tokenFile: string }> {
  if (stdout === null) throw new Error("the server's output is not read");
  for await (const line of createInterface({ input: stdout })) return JSON.parse(line);
  throw new Error("the server ended before it listened");
}

/** Server-sent events: blocks of `event:` and `data:` lines with an empty line after each. */
async function* events(response: Response): AsyncGenerator<{ type: string; data: Record<string, unknown> }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const type = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (type !== undefined && data !== undefined) yield { type, data: JSON.parse(data) };
    }
  }
}

function short(data: object): string {
  const text = JSON.stringify(data);
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
