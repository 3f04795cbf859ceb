import type { Command } from "commander";
import { z } from "zod";
import type { ChainHead } from "../../../app.ts";
import { type Digest, orgId, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readJson, writeOutput } from "../shell/files.ts";
import { inRecord } from "../shell/session.ts";

interface Options {
  readonly out?: string;
}

/** `strata anchor`: the heads of the record's chains, to be kept elsewhere. */
export function declareAnchor(program: Command, context: Context): void {
  program
    .command("anchor")
    .description("print the latest digests of the record; kept elsewhere, they prove later that nothing was removed")
    .option("--out <file>", "write it to a file instead")
    .addHelpText("after", "\nExample:\n  $ strata anchor --out anchor.json && strata verify --anchor anchor.json")
    .action((options: Options, command: Command) =>
      inRecord(context, command, async ({ app }) => {
        const heads = await Promise.all((await app.organizations()).map((org) => app.head(org)));
        if (options.out === undefined) return context.json(heads);
        await writeOutput(options.out, context.terminal.cwd, [`${JSON.stringify(heads)}\n`]);
        context.say(`${options.out} is written.`);
      }),
    );
}

/** What a part of a head must be. */
function wrong(field: PropertyKey | undefined): string {
  switch (field) {
    case "org":
      return "has no `org`, the name of an organization";
    case "seq":
      return "has no `seq`, a whole number from 0";
    case "hash":
      return "has no `hash`, 64 hexadecimal digits or null";
    default:
      return "is not made of `org`, `seq` and `hash`";
  }
}

const isDigest = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

const HEADS = z.array(
  z.strictObject({
    org: z.string().transform(orgId),
    seq: z.int().nonnegative(),
    hash: z.custom<Digest>(isDigest, "it must be 64 hexadecimal digits").nullable(),
  }),
);

/**
 * Reads what `strata anchor` wrote.
 * @throws StrataError `file_not_found`, `invalid_input`
 */
export function readAnchor(name: string, cwd: string): readonly ChainHead[] {
  const parsed = HEADS.safeParse(readJson(name, cwd));
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path ?? [];
  const [head, field] = path;
  const where = head === undefined ? "it is not a list" : `entry ${Number(head) + 1} ${wrong(field)}`;
  throw new StrataError(
    "invalid_input",
    `${name} is not an anchor: ${where}; name a file that \`strata anchor\` wrote`,
    {
      file: name,
      path,
    },
  );
}
