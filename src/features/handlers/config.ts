import { z } from "zod";
import { frozenKey, type KeyPlace, type StoredKeys } from "../../agents/index.ts";
import { digestOf } from "../../protocol/index.ts";
import { bundle, DEFAULT_LIMITS, LEVELS } from "../../sandbox/index.ts";

/** Characters that a bundled handler may have. */
const MOST_CODE = 512 * 1024;

const FILE = z
  .string()
  .min(1)
  .describe(
    "The handler's file, relative to strata.yaml: a module in TypeScript or JavaScript whose default export answers.",
  );

const MEGABYTE = 1024 * 1024;

const HANDLER = z
  .union(
    [
      FILE,
      z.strictObject({
        file: FILE,
        level: z
          .enum(LEVELS)
          .default("thread")
          .describe(
            "How it is caged. `thread`: in a VM in a thread of this program. `process`: the same VM in a process that sees no file, network or other process; it needs bubblewrap.",
          ),
        limits: z
          .strictObject({
            cpuMs: z
              .int()
              .min(10)
              .max(10_000)
              .default(DEFAULT_LIMITS.cpuMs)
              .describe("Milliseconds of CPU time that it may use between its start and its end, waiting not counted."),
            memoryMb: z
              .int()
              .min(2)
              .max(256)
              .default(DEFAULT_LIMITS.memory / MEGABYTE)
              .describe("Megabytes that its values may take."),
            output: z
              .int()
              .min(100)
              .max(1_000_000)
              .default(DEFAULT_LIMITS.output)
              .describe("Characters of what it returns, and of each thing that it asks."),
            calls: z.int().min(0).max(100).default(DEFAULT_LIMITS.asks).describe("How often it may call `complete`."),
            logs: z.int().min(0).max(1_000).default(DEFAULT_LIMITS.logs).describe("Lines that it may log."),
          })
          .prefault({})
          .describe("How far one run of it may go. Whoever goes further fails, with an error that names the limit."),
      }),
    ],
    "a file, or a map with `file`, and if wanted `level` and `limits`",
  )
  .optional()
  .describe(
    "Code that answers in place of the model, without access to anything but its payload, its thread's history and `complete`, which asks the model. Default: the model answers.",
  );

const STORED = z
  .strictObject({
    file: z.string(),
    /** The bundle, and its digest. */
    code: z.string(),
    sha256: z.string(),
    /** Its source map, for line numbers in errors. */
    map: z.string(),
    level: z.enum(LEVELS),
    limits: z
      .strictObject({
        cpuMs: z.number(),
        memoryMb: z.number(),
        output: z.number(),
        calls: z.number(),
        logs: z.number(),
      })
      .readonly(),
  })
  .readonly();

/** A handler as it was bundled when its agent was declared. */
export type Handler = z.output<typeof STORED>;

const OF_OBJECT = HANDLER.unwrap().options[1];

function freezeHandler(value: z.output<typeof HANDLER>, place: KeyPlace): Handler | undefined {
  if (value === undefined) return undefined;
  const { file, level, limits } = typeof value === "string" ? OF_OBJECT.parse({ file: value }) : value;
  const at = typeof value === "string" ? [] : ["file"];
  const found = place.fileOf(file, at);
  if (found === undefined) return undefined;
  const made = bundle(found.file, found.folder);
  if ("problems" in made) {
    for (const problem of made.problems) place.refuse(at, problem);
    return undefined;
  }
  const { code, map } = made;
  if (place.agent.layers?.length === 0 && /\bcomplete\s*\(/.test(withoutTexts(code))) {
    const message = `it calls \`complete\`, and ${place.name} has no layers, so there is no prompt to ask its model with; declare \`layers\`, or leave the call out (a function of your own needs another name)`;
    place.refuse(at, message);
    return undefined;
  }
  if (code.length > MOST_CODE) {
    place.refuse(at, `with all that it imports it has ${code.length} characters; at most ${MOST_CODE} are allowed`);
    return undefined;
  }
  return { file, code, sha256: digestOf(code), map, level, limits };
}

/** Texts and comments of a program, of which a template's expressions are code. */
const TEXT = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

const withoutTexts = (code: string): string =>
  code.replace(TEXT, (text) => (text.startsWith("`") ? (text.match(/\$\{[^}]*/g) ?? []) : []).join(" ") || " ");

/** Which code answers for an agent. */
export const KEYS = {
  handler: frozenKey({
    written: HANDLER,
    stored: STORED,
    freeze: freezeHandler,
    locks: ({ code }: Handler) => ({ handler: code }),
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/tool.ts" {
  interface ToolReader extends StoredKeys<typeof KEYS> {}
}
