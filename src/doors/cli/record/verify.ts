import type { Command } from "commander";
import { z } from "zod";
import type { ChainHead, ColumnCover, Finding } from "../../../app.ts";
import { count, number, printable } from "../../../print/index.ts";
import { type Digest, type OrgId, orgId, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readJson, writeOutput } from "../shell/files.ts";
import { showProgress } from "../shell/progress.ts";
import { inRecord, type Session } from "../shell/session.ts";

interface VerifyOptions {
  readonly anchor?: string;
}

type Problem = Omit<Extract<Finding, { type: "problem" }>, "type">;

/** What was checked in one organization's record, and what does not match. */
interface OrgVerdict {
  readonly org: OrgId;
  readonly checked: Record<Extract<Finding, { type: "checked" }>["what"], number>;
  readonly problems: Problem[];
  /** What may change without a trace, and what only newer rows have. */
  readonly columns: ColumnCover[];
}

/** `strata verify`: derives every stored digest and the chain again. */
export function declareVerify(program: Command, context: Context): void {
  program
    .command("verify")
    .description(
      "check the database file, recompute every stored digest and the chain of records, and report what does not match",
    )
    .option("--anchor <file>", "also check that the record still contains what `strata anchor` printed")
    .addHelpText("after", "\nExample:\n  $ strata verify --data .strata")
    .action(async (options: VerifyOptions, command: Command) => {
      const anchors = options.anchor === undefined ? [] : readAnchor(options.anchor, context.terminal.cwd);
      return inRecord(context, command, async (session) => {
        const orgs = new Set([...(await session.app.organizations()), ...anchors.map((one) => one.org)]);
        const verdicts: OrgVerdict[] = [];
        for (const org of orgs) verdicts.push(await examine(context, session, org, anchors));
        if (session.json) context.json({ clean: verdicts.every(isClean), organizations: verdicts });
        else context.say(...verdicts.flatMap(reportVerdict));
        const problems = verdicts.reduce((sum, { problems: found }) => sum + found.length, 0);
        if (problems > 0) throw recordBroken(problems);
        if (!session.json)
          context.say(
            "The record is complete and unchanged.",
            ...COVERED[session.app.database],
            ...uncovered(verdicts),
          );
      });
    });
}

async function examine(
  context: Context,
  { app }: Session,
  org: OrgId,
  anchors: readonly ChainHead[],
): Promise<OrgVerdict> {
  const verdict: OrgVerdict = { org, checked: { piece: 0, epoch: 0, turn: 0, link: 0 }, problems: [], columns: [] };
  const progress = showProgress(context, `verifying ${org}`);
  for await (const finding of app.verify(
    org,
    anchors.find((one) => one.org === org),
  )) {
    context.terminal.signal.throwIfAborted();
    if (finding.type === "problem") verdict.problems.push({ where: finding.where, message: finding.message });
    else if (finding.type === "covered") verdict.columns.push(...finding.columns);
    else verdict.checked[finding.what] = Math.max(verdict.checked[finding.what], finding.count);
    progress.show(`${count(verdict.checked.turn, "turn")}, ${count(verdict.checked.piece, "piece")}`);
  }
  progress.end();
  return verdict;
}

/** What was checked, beside what is counted above. */
const COVERED = {
  sqlite: [
    "Checked: every page, row and index of the database and its schema, the search index and the vectors, the logs, lives and sums of",
    "agents, each text against its digest and each link against its rows. Not checked: files of workspaces, and an end that was removed",
    "completely, which only an anchor shows (`--anchor`).",
  ],
  postgres: [
    "Checked: the search index and the vectors, the logs, lives and sums of agents, each text against its digest and each link against its",
    "rows. Not checked: the server's pages on disk, which its data checksums and `pg_amcheck` are for, files of workspaces, and an end that",
    "was removed completely, which only an anchor shows (`--anchor`).",
  ],
};

/** How many columns the answer does not cover, and from which link on it covers those that were added later. */
function uncovered(verdicts: readonly OrgVerdict[]): readonly string[] {
  const free = (verdicts[0]?.columns ?? []).filter(({ by }) => by === "nothing");
  const later = verdicts.flatMap(({ org, columns }) =>
    columns.flatMap((one) =>
      one.by === "links" && one.from !== null && one.from > 1
        ? [`  ${org}: ${one.table}.${one.columns.join()} from link ${one.from} on`]
        : [],
    ),
  );
  const columns = count(free.flatMap((one) => one.columns).length, "column");
  const all = `${columns} of ${count(free.length, "table")} are not covered, because no link repeats them: leases, times, states of delivery`;
  return [
    ...(free.length === 0 ? [] : [`${all} and the like.`, "`strata verify --json` names each."]),
    ...(later.length === 0 ? [] : ["Covered only where the record has them:", ...later]),
  ];
}

const isClean = ({ problems }: OrgVerdict): boolean => problems.length === 0;

function reportVerdict({ org, checked, problems }: OrgVerdict): readonly string[] {
  const looked = `${count(checked.piece, "piece")}, ${count(checked.epoch, "epoch")}, ${count(checked.turn, "turn")}, ${count(checked.link, "link")}`;
  return [
    `${org}: ${looked} checked, ${problems.length === 0 ? "no problem" : number(problems.length)}${problems.length === 0 ? "" : problems.length === 1 ? " problem" : " problems"}`,
    ...problems.map(({ where, message }) => `  ${printable(where)}: ${printable(message)}`),
  ];
}

function recordBroken(problems: number): StrataError {
  return new StrataError(
    "record_broken",
    `the record does not match its digests in ${count(problems, "place")}; keep this data as it is, and restore an earlier copy`,
    { problems },
  );
}

/** `strata anchor`: the heads of the record's chains, to be kept elsewhere. */
export function declareAnchor(program: Command, context: Context): void {
  program
    .command("anchor")
    .description("print the latest digests of the record; kept elsewhere, they prove later that nothing was removed")
    .option("--out <file>", "write it to a file instead")
    .addHelpText("after", "\nExample:\n  $ strata anchor --out anchor.json && strata verify --anchor anchor.json")
    .action((options: { readonly out?: string }, command: Command) =>
      inRecord(context, command, async ({ app }) => {
        const heads = await Promise.all((await app.organizations()).map((org) => app.head(org)));
        if (options.out === undefined) return context.json(heads);
        await writeOutput(options.out, context.terminal.cwd, [`${JSON.stringify(heads)}\n`]);
        context.say(`${options.out} is written.`);
      }),
    );
}

/** The required form of a part of a head. */
function wrongPart(field: PropertyKey | undefined): string {
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
function readAnchor(name: string, cwd: string): readonly ChainHead[] {
  const parsed = HEADS.safeParse(readJson(name, cwd));
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path ?? [];
  const [head, field] = path;
  const where = head === undefined ? "it is not a list" : `entry ${Number(head) + 1} ${wrongPart(field)}`;
  throw new StrataError(
    "invalid_input",
    `${name} is not an anchor: ${where}; name a file that \`strata anchor\` wrote`,
    {
      file: name,
      path,
    },
  );
}
