import { type ContactScope, type Digest, outcomePart } from "../../protocol/index.ts";
import { type EndedTurn, newTable, plain, type StorePart, type Tx, tables } from "../../store/index.ts";

/** A reusable reply: the question, the reply, and until when it is valid. */
export interface KeptResponse {
  readonly asked: Digest;
  readonly text: string;
  readonly at: number;
  readonly until: number;
}

interface ResponseTable extends ContactScope, KeptResponse {}

const { query, insert } = tables<{ response: ResponseTable }>();

/** How many of the newest replies to a contact are kept. */
const MOST = 100;

/** The replies of a turn that ends well. */
export const RESPONSES = outcomePart<readonly KeptResponse[]>();

/** Replies that are used again; each is its contact's alone. */
export const RESPONSES_STORE = {
  name: "responses",
  tables: { response: { volatile: "org agent contact asked text at until" } },
  migrations: [
    {
      number: 39,
      name: "replies to be used again",
      statements: [
        newTable("response", {
          columns: "org text!, agent text!, contact text!, asked text!, text text!, at int!, until int!",
          key: "org, agent, contact, asked",
        }),
      ],
    },
  ],
  functions: ({ reading }) => ({
    /** The reply to a question, while it may be reused. */
    response: reading(response),
  }),
  onCommit: keepResponses,
  erase: async (tx, { org, agent, contact }) => {
    await tx.run(plain("delete from response where org = ? and agent = ? and contact = ?", org, agent, contact));
  },
  // Later questions may quote what was removed.
  retract: async (tx, { lineages }) => {
    for (const { scope, since } of lineages()) {
      const { org, agent, contact } = scope;
      await tx.run(
        plain(
          "delete from response where org = ? and agent = ? and contact = ? and at >= ?",
          org,
          agent,
          contact,
          since,
        ),
      );
    }
  },
} satisfies StorePart;

async function response(
  tx: Tx,
  { org, agent, contact }: ContactScope,
  { asked, at }: Pick<KeptResponse, "asked" | "at">,
): Promise<string | undefined> {
  const found = query
    .selectFrom("response")
    .select("text")
    .where((eb) => eb.and({ org, agent, contact, asked }))
    .where("until", ">", at);
  return (await tx.first(found))?.text;
}

async function keepResponses(tx: Tx, { scope, done }: EndedTurn): Promise<void> {
  for (const kept of (done && RESPONSES.of(done.outcome)) ?? []) await keepOne(tx, scope, kept);
}

async function keepOne(tx: Tx, { org, agent, contact }: ContactScope, kept: KeptResponse): Promise<void> {
  const whose = [org, agent, contact];
  await tx.run(
    plain(
      `delete from response where org = ? and agent = ? and contact = ? and (asked = ? or until <= ? or at < (
        select at from response where org = ? and agent = ? and contact = ? order by at desc limit 1 offset ${MOST - 2}))`,
      ...[...whose, kept.asked, kept.at, ...whose],
    ),
  );
  await tx.run(insert("response", { org, agent, contact, ...kept }, "if new"));
}
