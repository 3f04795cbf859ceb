import {
  type ActorId,
  type AgentName,
  type ContactId,
  type ContactScope,
  canonicalJson,
  type Digest,
  type DoneBy,
  digestOf,
  isErased,
  issueId,
  type KeyId,
  keyedDigest,
  keyId,
  type OrgId,
  type Role,
  StrataError,
} from "../../protocol/index.ts";
import {
  append,
  atMost,
  type Erasing,
  fixed,
  inOrder,
  knownKey,
  linkedTable,
  newTable,
  owner,
  type Paging,
  type StorePart,
  scopeKey,
  type Tx,
  tables,
  toDoneBy,
} from "../../store/index.ts";

/** The roles that a key can have. The platform itself asks with no key. */
export const KEY_ROLES = ["operator", "member", "agent", "contact", "auditor"] as const satisfies readonly Role[];
export type KeyRole = (typeof KEY_ROLES)[number];

/**
 * `agent` is empty if the key is for the whole organization, `digest` is the secret's. `whose` is a digest of what an erasure removes, the
 * contact and the name: links contain it instead.
 */
interface KeyTable {
  readonly org: OrgId;
  readonly agent: AgentName | "";
  readonly contact: ContactId | null;
  readonly id: KeyId;
  readonly role: KeyRole;
  readonly name: string;
  readonly whose: Digest;
  readonly prefix: string;
  readonly digest: Digest;
  readonly expires_at: number | null;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly used_at: number | null;
  readonly link: number;
}

interface RevocationTable {
  readonly org: OrgId;
  readonly agent: AgentName | "";
  readonly id: KeyId;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly at: number;
  readonly link: number;
}

const { query, insert } = tables<{ access_key: KeyTable; key_revocation: RevocationTable }>();

/** Whose data a key opens. Left out: all of the organization's. */
export interface KeyReach {
  readonly agent?: AgentName;
  readonly contact?: ContactId;
}

/** A key as it is listed. The secret cannot be derived from this. */
export interface AccessKey extends KeyReach, DoneBy {
  readonly id: KeyId;
  /** The name its maker gave it; empty once its contact was erased. */
  readonly name: string;
  readonly role: KeyRole;
  /** The secret's beginning, to find it in a configuration. */
  readonly prefix: string;
  /** Milliseconds since 1970, as all times here. */
  readonly at: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** To the minute. Left out: never used. */
  readonly usedAt?: number;
}

/** A new key. `digest` is the SHA-256 of its secret, which is stored nowhere. */
export interface NewKey extends KeyReach, DoneBy, Pick<AccessKey, "name" | "role" | "prefix" | "at" | "expiresAt"> {
  readonly digest: Digest;
}

/**
 * The keys of the HTTP server: each is linked when it is made and when it is revoked, and none is deleted. Only the digest of a secret is
 * kept. A fast digest is right here: a secret is not a password but 256 random bits, too many to try.
 */
export const KEY_STORE = {
  name: "keys",
  tables: {
    access_key: {
      linked: "agent id role whose prefix digest expires_at by by_id at",
      derived: "org contact name link",
      volatile: "used_at",
    },
    key_revocation: { linked: "agent id by by_id at", derived: "org link" },
  },
  migrations: [
    {
      number: 32,
      name: "keys",
      statements: [
        newTable("access_key", {
          columns: `org text!, agent text!, contact text, id text!, role text!, name text!, whose text!, prefix text!, digest text!,
            expires_at int, by text!, by_id text, at int!, used_at int, link int!`,
          key: "org, id",
          unique: ["org, digest"],
        }),
        "create index access_key_link on access_key (org, link)",
        "create index access_key_contact on access_key (org, agent, contact) where contact is not null",
        newTable("key_revocation", {
          columns: `org text!, agent text!, id text!, by text!, by_id text, at int!, link int!`,
          key: "org, id",
          references: ["org, id -> access_key (org, id)"],
        }),
        "create index key_revocation_link on key_revocation (org, link)",
      ],
    },
  ],
  functions: ({ reading, writing }) => ({
    /** @throws StrataError `not_allowed` if the key that makes it is no longer valid, or ends earlier */
    createKey: writing(createKey),
    /** The keys that open nothing beyond the reach, newest first; with `validAt`, only those that are valid then. */
    keys: reading(keys),
    key: reading(keyNamed),
    /** The key whose secret has that digest. One look-up by an index, whatever is found. */
    keyWith: reading(keyWith),
    /** False if it is already revoked. */
    revokeKey: writing(async (tx, org: OrgId, { id, ...who }: Erasing & Pick<AccessKey, "id">) => {
      const known = await keyNamed(tx, org, { id });
      if (known === undefined || known.revokedAt !== undefined) return false;
      await revoke(tx, { org, agent: known.agent ?? "", id }, who);
      return true;
    }),
    noteUse: writing(noteUse),
  }),
  linked: {
    key: linkedTable<KeyTable>(
      "access_key",
      ({ id }) => `key ${id}`,
      async (tx, row) => {
        if ((await whoseDigest(tx, row)) !== row.whose)
          throw new StrataError("record_broken", "its contact or its name was changed", { key: row.id });
        return keyLink(row);
      },
    ),
    keyRevoked: linkedTable<RevocationTable>(
      "key_revocation",
      ({ id }) => `the end of key ${id}`,
      (_, row) => revocationLink(row),
    ),
  },
  keyed: ["access_key"],
  erase: eraseKeys,
} satisfies StorePart;

const keyLink = ({
  agent,
  id,
  role,
  whose,
  prefix,
  digest,
  expires_at,
  by,
  by_id,
  at,
}: Omit<KeyTable, "link">): string =>
  canonicalJson({ key: { agent, id, role, whose, prefix, digest, expires_at, by, by_id, at } });

const revocationLink = ({ agent, id, by, by_id, at }: Omit<RevocationTable, "link">): string =>
  canonicalJson({ keyRevoked: { agent, id, by, by_id, at } });

type KeyScope = Pick<KeyTable, "org" | "agent" | "contact" | "name">;

const whoseText = ({ contact, name }: KeyScope): string => canonicalJson({ contact, name });

/** Under the contact's own key, which an erasure deletes: the remainder identifies nobody. */
async function whoseDigest(tx: Tx, row: KeyScope & Pick<KeyTable, "whose">): Promise<Digest | undefined> {
  const { agent, contact } = row;
  if (contact === null) return digestOf(whoseText(row));
  if (isErased(contact)) return row.name === "" ? row.whose : undefined;
  const key = agent === "" ? undefined : await knownKey(tx, { org: row.org, agent, contact });
  return key && keyedDigest(key, whoseText(row));
}

async function createKey(tx: Tx, org: OrgId, wanted: NewKey): Promise<AccessKey> {
  const { agent, contact, name, role, prefix, digest, at, by, byId } = wanted;
  const ends = await makersEnd(tx, org, wanted);
  const who = { org, agent: agent ?? "", contact: contact ?? null, name } as const;
  const key = agent && contact && (await scopeKey(tx, { org, agent, contact }));
  const row = {
    ...who,
    id: keyId(issueId("key", at, tx.random(10))),
    role,
    whose: key ? keyedDigest(key, whoseText(who)) : digestOf(whoseText(who)),
    prefix,
    digest,
    expires_at: wanted.expiresAt ?? ends ?? null,
    by,
    by_id: byId ?? null,
    at,
    used_at: null,
  };
  const { seq: link } = await append(tx, org, keyLink(row));
  await tx.run(insert("access_key", { ...row, link }));
  return toKey({ ...row, revoked_at: null });
}

/** When the key that makes another one ends: the new one does not outlive it. */
async function makersEnd(
  tx: Tx,
  org: OrgId,
  { byId, at, expiresAt = Number.POSITIVE_INFINITY }: NewKey,
): Promise<number | undefined> {
  const [kind, id = ""] = byId?.split(":") ?? [];
  if (kind !== "key") return undefined;
  const maker = await keyNamed(tx, org, { id: keyId(id) });
  if (maker === undefined || !isValid(maker, at))
    throw new StrataError("not_allowed", "the key that makes this one is no longer valid; use another", { key: id });
  const ends = maker.expiresAt;
  if (ends === undefined || expiresAt === Number.POSITIVE_INFINITY || expiresAt <= ends) return ends;
  const message = `the key that makes this one ends on ${new Date(ends).toISOString().slice(0, 10)}, and makes none that ends later; ask for fewer days`;
  throw new StrataError("not_allowed", message, { key: id, expiresAt: ends });
}

/** Whether it opens anything at that time. */
export const isValid = ({ revokedAt, expiresAt }: Pick<AccessKey, "revokedAt" | "expiresAt">, at: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || at < expiresAt);

async function keys(
  tx: Tx,
  org: OrgId,
  reach: KeyReach & Paging & { readonly validAt?: number },
): Promise<readonly AccessKey[]> {
  const { agent, contact, limit, after, validAt } = reach;
  let wanted = selectKeys().where("access_key.org", "=", org).orderBy("access_key.id", "desc").limit(atMost(limit));
  if (agent !== undefined) wanted = wanted.where("access_key.agent", "=", agent);
  if (contact !== undefined) wanted = wanted.where("access_key.contact", "=", contact);
  if (validAt !== undefined)
    wanted = wanted
      .where("key_revocation.at", "is", null)
      .where((eb) => eb.or([eb("access_key.expires_at", "is", null), eb("access_key.expires_at", ">", validAt)]));
  if (after !== undefined) wanted = wanted.where("access_key.id", "<", keyId(after.id));
  return (await tx.all(wanted)).map(toKey);
}

async function keyNamed(tx: Tx, org: OrgId, { id }: Pick<AccessKey, "id">): Promise<AccessKey | undefined> {
  const row = await tx.first(selectKeys().where("access_key.org", "=", org).where("access_key.id", "=", id));
  return row && toKey(row);
}

async function keyWith(
  tx: Tx,
  org: OrgId,
  { digest }: Pick<NewKey, "digest">,
): Promise<(AccessKey & Pick<NewKey, "digest">) | undefined> {
  const row = await tx.first(withDigest({ org, digest }));
  return row && { ...toKey(row), digest: row.digest };
}

const withDigest = fixed(({ org, digest }: Pick<KeyTable, "org" | "digest">) =>
  selectKeys().where("access_key.org", "=", org).where("access_key.digest", "=", digest),
);

const selectKeys = () =>
  query
    .selectFrom("access_key")
    .leftJoin("key_revocation", (join) =>
      join
        .onRef("key_revocation.org", "=", "access_key.org")
        .onRef("key_revocation.agent", "=", "access_key.agent")
        .onRef("key_revocation.id", "=", "access_key.id"),
    )
    .selectAll("access_key")
    .select("key_revocation.at as revoked_at");

function toKey(row: Omit<KeyTable, "link"> & { readonly revoked_at: number | null }): AccessKey {
  const { id, name, role, agent, contact, prefix, at, expires_at, revoked_at, used_at } = row;
  return {
    id,
    name,
    role,
    ...(agent !== "" && { agent }),
    ...(contact !== null && { contact }),
    prefix,
    ...toDoneBy(row),
    at,
    ...(expires_at !== null && { expiresAt: expires_at }),
    ...(revoked_at !== null && { revokedAt: revoked_at }),
    ...(used_at !== null && { usedAt: used_at }),
  };
}

async function revoke(
  tx: Tx,
  key: Pick<RevocationTable, "org" | "agent" | "id">,
  { by, byId, at }: Erasing,
): Promise<void> {
  const row = { ...key, by, by_id: byId ?? null, at };
  const { seq: link } = await append(tx, key.org, revocationLink(row));
  await tx.run(insert("key_revocation", { ...row, link }));
}

/** A contact's keys open nothing after the contact was erased, and their names are gone. */
async function eraseKeys(tx: Tx, scope: ContactScope, erasing: Erasing): Promise<void> {
  const whose = owner(scope);
  const known = await tx.all(selectKeys().where((eb) => eb.and(inTable(scope))));
  const valid = known.filter(({ revoked_at }) => revoked_at === null);
  await inOrder(valid, ({ org, agent, id }) => revoke(tx, { org, agent, id }, erasing));
  await tx.run(
    query
      .updateTable("access_key")
      .set({ name: "" })
      .where((eb) => eb.and(whose)),
  );
}

const inTable = ({ org, agent, contact }: ContactScope) => ({
  "access_key.org": org,
  "access_key.agent": agent,
  "access_key.contact": contact,
});

async function noteUse(tx: Tx, org: OrgId, { id, at }: Pick<AccessKey, "id" | "at">): Promise<void> {
  await tx.run(query.updateTable("access_key").set({ used_at: at }).where("org", "=", org).where("id", "=", id));
}
