/** Keys: who has access over HTTP, in which role, and whose data they reach. */

import { z } from "zod";
import { ago, count, minute, printable, table, whoDid } from "../../print/index.ts";
import { type Agent, keyId } from "../../protocol/index.ts";
import type { Feature } from "../feature.ts";
import { DONE_BY, FIELDS, given, line, list, NEXT, nextAfter, PAGE, TIME, whole } from "../fields.ts";
import { operation } from "../operation.ts";
import { KEY_API, KEY_NOT_FOUND, KEYS_MISSING, keyApi } from "./api.ts";
import { type AccessKey, isValid, KEY_ROLES, KEY_STORE } from "./store.ts";

export { type CreatedKey, KEY_API, type KeyApi, type KeyWish } from "./api.ts";
export { type AccessKey, isValid, KEY_STORE } from "./store.ts";

const SHAPE = {
  id: z.string(),
  name: z.string().describe("what its maker calls it; empty once its contact was erased"),
  role: z.enum(KEY_ROLES),
  agent: z.string().optional().describe("the one agent that it reaches; left out, all of them"),
  contact: z.string().optional().describe("the one contact whose data it reaches; left out, all of them"),
  prefix: z.string().describe("how the secret begins"),
  ...DONE_BY,
  at: TIME.describe("when it was made, milliseconds since 1970"),
  expiresAt: TIME.optional().describe("from when on it is not valid any more; left out, never"),
  revokedAt: TIME.optional().describe("since when it is revoked; left out, it is not"),
  usedAt: TIME.optional().describe("when it was last used, to the minute; left out, never"),
};

const create = operation({
  name: "key.create",
  does: "Create a key with which a person or a program uses the HTTP server in one role. Its secret is shown this once.",
  may: "operate",
  at: "POST /v1/keys",
  takes: z.strictObject({
    name: line().describe("what to call it: who uses it, or for what"),
    role: z
      .enum(KEY_ROLES)
      .describe("what it may do: all, what members do, read as an agent, talk as one contact, or read as an auditor"),
    agent: FIELDS.agent.optional().describe("the one agent that it reaches; needed by the roles agent and contact"),
    contact: FIELDS.contact.optional().describe("the one contact whose data it reaches; needed by the role contact"),
    days: whole(1, 36_500).optional().describe("days until it expires; left out, it is valid until it is revoked"),
  }),
  gives: z
    .object({ ...SHAPE, secret: z.string().describe("what is sent with each request; it is stored nowhere") })
    .meta({
      id: "CreatedKey",
    }),
  command: {
    words: ["name"],
    examples: [
      "key create mia --role member --days 90",
      "key create 'ann, web chat' companion --role contact --as ann",
    ],
    opens: "data",
  },
  run: ({ runtime }, { name, role, agent, contact, days }, { actor }) =>
    runtime.use(KEY_API).createKey(actor, {
      name,
      role,
      ...given("agent", agent),
      ...given("contact", contact),
      ...given("days", days),
    }),
  show: ({ secret, ...key }, { style }) => [
    secret,
    "",
    `This is ${described(key)}. The secret is not stored and not shown again: copy it now.`,
    style.dim(`It is sent as \`Authorization: Bearer ${key.prefix}…\` or \`x-api-key: ${key.prefix}…\`.`),
  ],
});

const listAll = operation({
  name: "key.list",
  does: "List the keys of the HTTP server, newest first: role, reach, expiry and last use, and the beginning of each secret.",
  may: "explain",
  at: "GET /v1/keys",
  takes: z.strictObject(PAGE),
  gives: z.object({ keys: list(z.object(SHAPE).meta({ id: "Key" })), ...NEXT }),
  list: "keys",
  command: { examples: ["key list"], opens: "data" },
  run: async ({ runtime }, wish, { actor }) => {
    const keys = await runtime.use(KEY_API).keys(actor, wish);
    return { keys, ...nextAfter(keys, wish.limit, ({ at, id }) => ({ at, id })) };
  },
  show: ({ keys }, { style, world }) => {
    if (keys.length === 0)
      return ["There is no key yet; `strata key create` makes one. The token in operator.token works without."];
    const now = world.clock.recorded();
    return table(
      COLUMNS,
      keys.map((key) => [
        key.id,
        printable(key.name),
        key.role,
        reachText(key),
        `${key.prefix}…`,
        stateText(key, now),
        key.usedAt === undefined ? "never" : ago(now - key.usedAt),
        whoDid(key),
      ]),
      style,
    );
  },
});

const revoke = operation({
  name: "key.revoke",
  does: "Revoke a key: from the next request on it opens nothing, in every process. This cannot be undone.",
  may: "operate",
  at: "DELETE /v1/keys/{id}",
  takes: z.strictObject({ id: z.string().describe("a key, key_…").transform(keyId) }),
  gives: z.object({ id: z.string(), changed: z.boolean().describe("False if it was revoked already.") }),
  command: { words: ["id"], examples: ["key revoke key_01jd8k3v5x9m2q7r4t6w8y0zab"], opens: "record" },
  run: async ({ runtime }, { id }, { actor }) => ({ id, changed: await runtime.use(KEY_API).revokeKey(actor, id) }),
  show: ({ id, changed }) => [`${id} is revoked${changed ? "" : " already"}. What it had begun goes on to its end.`],
});

export const FEATURE: Feature = {
  name: "keys",
  store: KEY_STORE,
  errors: [KEY_NOT_FOUND, KEYS_MISSING],
  operations: [create, listAll, revoke],
  open: () => ({ api: ({ parts }) => KEY_API.open(keyApi(parts)) }),
};

const COLUMNS = [
  { head: "key" },
  { head: "name" },
  { head: "role" },
  { head: "reaches" },
  { head: "begins" },
  { head: "valid (UTC)" },
  { head: "used" },
  { head: "made by", least: 20, wraps: true },
] as const;

type KeyReach = Pick<AccessKey, "expiresAt" | "revokedAt"> & {
  readonly role: string;
  readonly agent?: string | undefined;
  readonly contact?: string | undefined;
};

const reachText = ({ agent, contact }: KeyReach): string =>
  agent === undefined ? "everything" : contact === undefined ? agent : `${printable(contact)} at ${agent}`;

function stateText({ expiresAt, revokedAt }: KeyReach, now: number): string {
  if (revokedAt !== undefined) return `revoked ${minute(revokedAt)}`;
  if (expiresAt === undefined) return "until revoked";
  return expiresAt > now ? `until ${minute(expiresAt)}` : `expired ${minute(expiresAt)}`;
}

const described = (key: KeyReach & { readonly id: string; readonly name: string }): string =>
  `${key.id}, ${JSON.stringify(key.name)}: role ${key.role}, reaches ${reachText(key)}, valid ${stateText(key, 0)}`;

/** How many days ahead an expiry is reported. */
const SOON = 14;

/** Which keys groups of limits name that are none of the valid ones, a line each. */
export function unknownKeyLines(
  valid: readonly AccessKey[],
  agents: readonly Pick<Agent, "limits">[],
): readonly string[] {
  const ids = new Set<string>(valid.map(({ id }) => id));
  const lines = agents.flatMap(({ limits }) =>
    Object.entries(limits?.groups ?? {}).flatMap(([group, { keys }]) =>
      // Another id, such as `local:operator`, is no key's.
      keys
        .filter((id) => !ids.has(id) && !id.includes(":"))
        .map((id) => `\`limits.groups.${group}\` names ${id}, and no valid key has that id`),
    ),
  );
  return lines.length === 0 ? [] : [...new Set(lines), "`strata key list` shows the ids of keys."];
}

/** How many keys are valid, and which expire soon or have expired, a line each. */
export function keyLines(keys: readonly AccessKey[], now: number): readonly string[] {
  const valid = keys.filter((key) => isValid(key, now));
  const ending = valid.filter(({ expiresAt }) => expiresAt !== undefined && expiresAt < now + SOON * 86_400_000);
  return [
    `${count(valid.length, "key")} valid besides the operator's token`,
    ...ending.map(({ id, name, expiresAt = now }) => `${printable(name)} (${id}) expires on ${minute(expiresAt)} UTC`),
  ];
}
