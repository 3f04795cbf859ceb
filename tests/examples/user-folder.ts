import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { run } from "../../src/doors/cli/index.ts";

/**
 * A folder in which `npx strata`, `import "strata"` and `viem` are this checkout's, as if they were installed there. Its
 * program only carries what it is given to this process and what is printed back: loading all of Strata again takes longer
 * than what most commands do. Gone when the test is.
 */
export async function userFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "strata-user-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const put = (path: string, content: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode });
  };
  const here = (path: string): string => pathToFileURL(join(ROOT, path)).href;
  put("node_modules/.bin/strata", carrier(await listening(join(folder, "node_modules/strata.sock"))), 0o755);
  put("node_modules/strata/package.json", '{"name": "strata", "type": "module", "exports": "./index.js"}');
  put("node_modules/strata/index.js", `export * from "${here("src/index.ts")}";\n`);
  put(
    "node_modules/viem/package.json",
    '{"name": "viem", "type": "module", "exports": {"./accounts": "./accounts.js"}}',
  );
  put("node_modules/viem/accounts.js", `export * from "${here("node_modules/viem/_esm/accounts/index.js")}";\n`);
  put("package.json", '{"type": "module"}');
  return folder;
}

/** Sends one line with its arguments, then all of stdin; what comes back is `[1, text]`, `[2, text]` and, at last, its exit code. */
const carrier = (socket: string): string => `#!/usr/bin/env node
import { createInterface } from "node:readline";
import { connect } from "node:net";
const socket = connect(${JSON.stringify(socket)});
socket.write(JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env }) + "\\n");
process.stdin.pipe(socket);
process.stdout.on("error", () => process.exit(0));
for await (const line of createInterface({ input: socket })) {
  const said = JSON.parse(line);
  if (!Array.isArray(said)) process.exitCode = said;
  else (said[0] === 1 ? process.stdout : process.stderr).write(said[1]);
}
process.stdin.destroy();
`;

interface Call {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

async function listening(path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

async function answer(socket: Socket): Promise<void> {
  const given = await text(socket);
  const end = given.indexOf("\n");
  const { argv, cwd, env }: Call = JSON.parse(given.slice(0, end));
  const back = (stream: 1 | 2) =>
    new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => {
        socket.write(`${JSON.stringify([stream, String(chunk)])}\n`);
        done();
      },
    });
  const stdin = Readable.from(end + 1 < given.length ? [given.slice(end + 1)] : []);
  const { signal } = new AbortController();
  socket.on("error", () => {});
  const code = await run(argv, { stdin, stdout: back(1), stderr: back(2), env, cwd, signal });
  socket.end(`${code}\n`);
}
