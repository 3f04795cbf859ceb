import { z } from "zod";
import { count, number } from "../../print/index.ts";
import { StrataError } from "../../protocol/index.ts";
import { given } from "../fields.ts";
import { type DoorCall, fileOperation, type Operation, operation } from "../operation.ts";
import type { ImportReport, MemoryApi } from "./api-types.ts";
import { MEMORY_API } from "./api-types.ts";
import { about } from "./operations.ts";
import { FILE, FILTER, filterOf, IMPORTED, scopeOf, WHOSE } from "./shapes.ts";

const importFile = operation({
  name: "memory.import",
  does: "Import memories from a file: of `memory export`, Markdown, mem0 or ChatGPT. Valid entries are saved; importing the same file again saves nothing.",
  may: "operate",
  at: "POST /v1/memories/import",
  takes: WHOSE.extend(FILE),
  gives: IMPORTED,
  command: {
    words: ["text"],
    file: "text",
    fileName: "name",
    contact: "me or own",
    examples: ["memory import conversations.json --as ann --kind fact", "memory import - < notes.md"],
    opens: "everything",
  },
  run: async (world, { agent, contact, name, text, format, kinds, user, check }, call) => {
    const file = {
      name,
      text,
      ...given("format", format),
      ...given("kinds", kinds),
      ...given("user", user),
      ...given("check", check),
    };
    const scope = scopeOf(world, call.actor, { agent, contact });
    return imported(world.runtime.use(MEMORY_API).importMemories(call.actor, scope, file), name, call);
  },
  show: (report, { given: { name, check, ...whose } }) => [summary(name, report, { about: about(whose), check })],
  hints: ({ notes = [] }, { given: { name } }) => notes.map((note) => `${name}: ${note}.`),
  faults: ({ refused }, { given: { name } }) => faults(name, refused),
});

async function imported(
  work: ReturnType<MemoryApi["importMemories"]>,
  name: string,
  { signal, progress }: DoorCall,
): Promise<ImportReport> {
  for (;;) {
    const step = await work.next();
    if (step.done === true) return step.value;
    const { done, total } = step.value;
    if (signal.aborted) throw importStopped(name, done, total);
    progress(`${number(done)} of ${count(total, "memory", "memories")}`, total === 0 ? 1 : done / total);
    // Yields to other work, including a request to stop.
    await new Promise(setImmediate);
  }
}

function importStopped(file: string, done: number, total: number): StrataError {
  const message = `stopped after ${number(done)} of ${count(total, "memory", "memories")} of ${file}; import it again to continue; nothing is saved twice`;
  return new StrataError("turn_cancelled", message, { file, done, total });
}

interface ImportSummary {
  readonly about: string;
  readonly check: true | undefined;
}

function summary(file: string, { saved, known, evicted }: ImportReport, { about: whom, check }: ImportSummary): string {
  const verb = check === true ? "would be" : saved === 1 ? "is" : "are";
  const rest = [
    ...(known > 0 ? [`${number(known)} known already`] : []),
    ...(evicted > 0 ? [`${number(evicted)} less useful ones were deleted to make room`] : []),
  ];
  return `${file}: ${[`${count(saved, "memory", "memories")} ${whom} ${verb} saved`, ...rest].join(", ")}.`;
}

/** At most this many entries are listed one by one. */
const TOLD = 20;

/** Each problem is reported with its location; the rest of the file is saved. */
function faults(file: string, refused: ImportReport["refused"]): readonly StrataError[] {
  if (refused.length === 0) return [];
  const message = `${file}: ${count(refused.length, "entry was", "entries were")} refused, the rest was saved; fix these entries and import the file again`;
  return [
    ...refused
      .slice(0, TOLD)
      .map(
        ({ where, message: sentence }) =>
          new StrataError("invalid_line", `${file}: ${where} ${sentence}`, { file, where }),
      ),
    new StrataError("invalid_line", message, { file, refused: refused.length }),
  ];
}

const TYPES = { jsonl: "application/jsonl", markdown: "text/markdown" } as const;

const write = fileOperation({
  name: "memory.export",
  does: "Export memories as JSON lines, which lose nothing and can be imported, or as Markdown. Messages are included only with the kind `message`; `strata export` writes conversations.",
  may: "read",
  at: "GET /v1/memories/export",
  takes: WHOSE.extend({
    ...FILTER,
    format: z
      .enum(["jsonl", "markdown"])
      .default("jsonl")
      .describe("how; a file that is called .md is Markdown unless this says otherwise"),
  }),
  types: Object.values(TYPES),
  command: {
    contact: "me or own",
    endings: { md: { format: "markdown" }, markdown: { format: "markdown" } },
    examples: ["memory export --as ann --out ann.jsonl"],
    opens: "record",
  },
  write: async (world, { agent, contact, format, ...filter }, { actor }) => {
    const scope = scopeOf(world, actor, { agent, contact });
    return {
      type: TYPES[format],
      text: world.runtime.use(MEMORY_API).exportMemories(actor, scope, { format, ...filterOf(filter) }),
      summary: (file) => (file === undefined ? [] : [`The memories ${about({ agent, contact })} are in ${file}.`]),
    };
  },
});

/** Files from other systems or from Strata, and a contact's memories as a file. */
export const FILE_OPERATIONS: readonly Operation[] = [importFile, write];
