import { z } from "zod";
import {
  type ContactScope,
  canonicalJson,
  type Digest,
  type LayerId,
  layerId,
  lowestTrust,
  TRUSTS,
  type Trust,
  type TurnId,
  turnId,
} from "../../protocol/index.ts";
import {
  type AgentOwner,
  append,
  atMost,
  inOrder,
  keepOwn,
  type Migration,
  newTable,
  type OneTurn,
  owner,
  ownText,
  plain,
  scopeKey,
  type Tx,
  tables,
  writeKind,
} from "../../store/index.ts";

/** What each rule names of the organization, by the rule's key: the rule holds only while that is true. */
export type Anchors = Readonly<Record<string, readonly string[]>>;

/** A text that a digest has written: `body` and `summary` name pieces, `lessons` and `anchors` are JSON. */
interface CandidateTable extends ContactScope {
  readonly turn: TurnId;
  readonly layer: LayerId;
  readonly body: Digest;
  readonly summary: Digest;
  readonly lessons: string;
  /** What it was offered, used or not, as JSON; null in rows written before this was kept. */
  readonly offered: string | null;
  readonly anchors: string;
  readonly inputs: Trust;
  readonly parent: number | null;
  readonly at: number;
}

/** The verdict on a candidate before anybody was asked: `report` names a piece. `version` is the proposal that it became. */
export interface VerdictTable extends ContactScope {
  readonly turn: TurnId;
  readonly verdict: "proposed" | "refused";
  readonly version: number | null;
  readonly report: Digest;
  readonly at: number;
  readonly link: number;
}

const { query, insert } = tables<{ learning_candidate: CandidateTable; learning_verdict: VerdictTable }>();

/** Makes both tables. */
export const VERSION_TABLES: Migration = {
  number: 43,
  name: "learning versions",
  statements: [
    newTable("learning_candidate", {
      columns: `org text!, agent text!, contact text!, turn text!, layer text!, body text!, summary text!, lessons text!,
        anchors text!, inputs text!, parent int, at int!`,
      key: "org, agent, contact, turn",
      references: [
        "org, agent, contact, turn -> turn (org, agent, contact, id)",
        "org, agent, contact, body -> piece (org, agent, contact, digest)",
        "org, agent, contact, summary -> piece (org, agent, contact, digest)",
      ],
    }),
    newTable("learning_verdict", {
      columns: `org text!, agent text!, contact text!, turn text!, verdict text!, version int, report text!, at int!, link int!`,
      key: "org, agent, contact, turn",
      references: [
        "org, agent, contact, turn -> learning_candidate (org, agent, contact, turn)",
        "org, agent, contact, report -> piece (org, agent, contact, digest)",
      ],
    }),
    "create index learning_verdict_link on learning_verdict (org, link)",
  ],
};

/** A digest's text, and its outcome. */
export interface KeptCandidate extends Pick<CandidateTable, "turn" | "layer" | "inputs" | "at"> {
  readonly scope: ContactScope;
  readonly body: string;
  readonly summary: string;
  readonly lessons: readonly string[];
  readonly anchors: Anchors;
  readonly parent?: number;
  readonly verdict?: Verdict;
}

/** The verdict on a candidate. */
export interface Verdict {
  readonly verdict: VerdictTable["verdict"];
  readonly because: string;
  readonly version?: number;
  /** As written by the judge. */
  readonly report?: unknown;
  readonly at: number;
}

const CANDIDATE_FORM = z.strictObject({
  turn: z.string().transform(turnId),
  layer: z.string().transform(layerId),
  body: z.string(),
  summary: z.string(),
  lessons: z.array(z.string()),
  offered: z.array(z.string()),
  anchors: z.record(z.string(), z.array(z.string())),
  inputs: z.enum(TRUSTS),
  parent: z.int().nullable(),
});

const SAID_OF_IT = z.object({ because: z.string(), report: z.unknown().optional() });

/** Keeps a digest's text, in its turn's commit: whether an operator is asked about it is decided later. */
export const CANDIDATE = writeKind<{
  readonly kind: "learning-candidate";
  readonly candidate: z.output<typeof CANDIDATE_FORM>;
}>({
  kind: "learning-candidate",
  schema: z.strictObject({ kind: z.literal("learning-candidate"), candidate: CANDIDATE_FORM }),
  limited: (write, most) => ({
    ...write,
    candidate: { ...write.candidate, inputs: lowestTrust([write.candidate.inputs, ...most]) },
  }),
  hidden: (write, hide) => {
    const { body, summary } = write.candidate;
    return { ...write, candidate: { ...write.candidate, body: hide(body), summary: hide(summary) } };
  },
  apply: async (tx, { candidate }, { scope, at }) => {
    const { body, summary, lessons, offered, anchors, ...rest } = candidate;
    const key = await scopeKey(tx, scope);
    await tx.run(
      insert("learning_candidate", {
        ...owner(scope),
        ...rest,
        body: await keepOwn(tx, scope, key, body),
        summary: await keepOwn(tx, scope, key, summary),
        lessons: JSON.stringify(lessons),
        offered: JSON.stringify(offered),
        anchors: JSON.stringify(anchors),
        at,
      }),
    );
    return [];
  },
});

/** A digest turn's candidate, for the turn's link. */
export async function candidateInLink(tx: Tx, { turn, ...of }: OneTurn): Promise<Readonly<Record<string, unknown>>> {
  const row = await tx.first(
    query
      .selectFrom("learning_candidate")
      .selectAll()
      .where((eb) => eb.and({ ...owner(of), turn })),
  );
  if (row === undefined) return {};
  const { layer, body, summary, lessons, offered, anchors, inputs, parent, at } = row;
  // Links of digests from before it was kept do not have it.
  const more = offered === null ? {} : { offered };
  return { candidate: { layer, body, summary, lessons, ...more, anchors, inputs, parent, at } };
}

export const verdictLink = ({ agent, turn, verdict, version, report, at }: Omit<VerdictTable, "link">): string =>
  canonicalJson({ verdict: { agent, turn, verdict, version, report, at } });

/** Ignores what a model wrote from something that was retracted later. */
const RETRACTED = `select 1 from turn where turn.org = learning_candidate.org and turn.agent = learning_candidate.agent
  and turn.contact = learning_candidate.contact and turn.id = learning_candidate.turn and turn.retracted is not null`;

/** The texts of the agent's digests, newest first. */
export async function candidates(tx: Tx, { org, agent }: AgentOwner, limit: number): Promise<readonly KeptCandidate[]> {
  const newest = `select * from learning_candidate where org = ? and agent = ? and not exists (${RETRACTED}) order by turn desc limit ?`;
  const rows = await tx.all(plain<CandidateTable>(newest, org, agent, atMost(limit)));
  return inOrder(rows, async (row) => {
    const text = async (piece: Digest): Promise<string> => (await ownText(tx, row, piece)) ?? "";
    const said = await tx.first(
      query
        .selectFrom("learning_verdict")
        .selectAll()
        .where((eb) => eb.and({ ...owner(row), turn: row.turn })),
    );
    const { turn, layer, inputs, at, parent } = row;
    const words = said && (await text(said.report));
    return {
      ...{ turn, layer, inputs, at, scope: owner(row) },
      body: await text(row.body),
      summary: await text(row.summary),
      lessons: JSON.parse(row.lessons),
      anchors: JSON.parse(row.anchors),
      ...(parent !== null && { parent }),
      ...(said && {
        verdict: {
          ...{ verdict: said.verdict, at: said.at, because: "" },
          ...(words && withoutMissing(SAID_OF_IT.parse(JSON.parse(words)))),
          ...(said.version !== null && { version: said.version }),
        },
      }),
    };
  });
}

const withoutMissing = ({ because, report }: z.output<typeof SAID_OF_IT>) => ({
  because,
  ...(report !== undefined && { report }),
});

/** Records a candidate's outcome once. False if another program already did. */
export async function judgeCandidate(
  tx: Tx,
  scope: ContactScope,
  turn: TurnId,
  { verdict, because, version, report, at }: Verdict,
): Promise<boolean> {
  const known = `select turn from learning_verdict where org = ? and agent = ? and contact = ? and turn = ?`;
  if ((await tx.column(plain<string>(known, scope.org, scope.agent, scope.contact, turn))).length > 0) return false;
  const words = JSON.stringify({ because, ...(report !== undefined && { report }) });
  const piece = await keepOwn(tx, scope, await scopeKey(tx, scope), words);
  const row = { ...owner(scope), turn, verdict, version: version ?? null, report: piece, at };
  await tx.run(insert("learning_verdict", { ...row, link: (await append(tx, scope.org, verdictLink(row))).seq }));
  return true;
}
