import { canonicalJson, type Digest } from "../../protocol/index.ts";
import {
  type AgentOwner,
  append,
  inOrder,
  keepShared,
  linkedTable,
  newTable,
  type StorePart,
  sharedText,
  type Tx,
  tables,
} from "../../store/index.ts";

/** A file that came with a version of a skill's text; `piece` names the file's own text. */
interface SkillFileTable extends AgentOwner {
  readonly skill: string;
  readonly n: number;
  readonly path: string;
  readonly piece: Digest;
  readonly at: number;
  readonly link: number;
}

const { query, insert } = tables<{ skill_file: SkillFileTable }>();

/** Whose files: those of one version of a skill. */
interface SkillVersion extends AgentOwner {
  readonly skill: string;
  readonly n: number;
}

export interface SkillFile {
  readonly path: string;
  readonly text: string;
}

/** The files of skills that were added with their folder. They belong to the version that they came with, and wait with it for an operator. */
export const SKILL_STORE = {
  name: "skills",
  tables: { skill_file: { linked: "agent skill n path piece at", derived: "org link" } },
  migrations: [
    {
      number: 21,
      name: "skill files",
      statements: [
        newTable("skill_file", {
          columns: `org text!, agent text!, skill text!, n int!, path text!, piece text!, at int!, link int!`,
          key: "org, agent, skill, n, path",
        }),
        `create index skill_file_link on skill_file (org, link)`,
      ],
    },
  ],
  functions: ({ reading, writing }) => ({
    skillFiles: reading(skillFiles),
    /** Existing ones stay unchanged. */
    keepSkillFiles: writing(keepSkillFiles),
  }),
  linked: {
    "skill file": linkedTable<SkillFileTable>(
      "skill_file",
      ({ skill, path }) => `the file ${path} of the skill ${skill}`,
      async (tx, row) => {
        await sharedText(tx, row.org, row.piece);
        return skillFileLink(row);
      },
    ),
  },
  // An operator added them: no contact's words.
  erase: async () => undefined,
} satisfies StorePart;

const skillFileLink = ({ agent, skill, n, path, piece, at }: Omit<SkillFileTable, "link">): string =>
  canonicalJson({ "skill file": { agent, skill, n, path, piece, at } });

async function skillFiles(tx: Tx, { org, agent, skill, n }: SkillVersion): Promise<readonly SkillFile[]> {
  const rows = await tx.all(
    query
      .selectFrom("skill_file")
      .selectAll()
      .where((eb) => eb.and({ org, agent, skill, n }))
      .orderBy("path"),
  );
  return inOrder(rows, async ({ path, piece }) => ({ path, text: await sharedText(tx, org, piece) }));
}

async function keepSkillFiles(
  tx: Tx,
  { org, agent, skill, n }: SkillVersion,
  files: readonly SkillFile[],
  at: number,
): Promise<void> {
  const known = new Set((await skillFiles(tx, { org, agent, skill, n })).map(({ path }) => path));
  for (const { path, text } of files.filter((one) => !known.has(one.path))) {
    const row = { org, agent, skill, n, path, piece: await keepShared(tx, org, text), at };
    const { seq: link } = await append(tx, org, skillFileLink(row));
    await tx.run(insert("skill_file", { ...row, link }));
  }
}
