import { timingSafeEqual } from "node:crypto";
import {
  type Actor,
  type Allowed,
  actorId,
  type Digest,
  digestOf,
  doneBy,
  errorKind,
  type KeyId,
  type OrgId,
  StrataError,
} from "../../protocol/index.ts";
import type { Paging } from "../../store/index.ts";
import { agentNamed, featureApi, type Parts, writableScope } from "../../turn/index.ts";
import { given } from "../fields.ts";
import { type AccessKey, isValid, KEY_STORE, type KeyReach, type KeyRole } from "./store.ts";

/** What a new key may do. */
export interface KeyWish extends KeyReach {
  readonly name: string;
  readonly role: KeyRole;
  /** Days until it expires. Left out: never, or with the key that makes it. */
  readonly days?: number;
}

/** A new key with its secret, which is shown only this once. */
export interface CreatedKey extends AccessKey {
  readonly secret: string;
}

export interface KeyApi {
  /**
   * Makes a key that reaches no further than its maker, and does not outlive the key that makes it.
   * @throws StrataError `not_allowed`, `invalid_input`, `agent_not_found`, `invalid_id`
   */
  createKey(actor: Allowed<"operate">, wish: KeyWish): Promise<CreatedKey>;
  /** The keys in the actor's reach, newest first: also those that were revoked or have expired. */
  keys(actor: Allowed<"explain">, wish: Paging): Promise<readonly AccessKey[]>;
  /**
   * From the next request on, the key is rejected in every process. False if it was already revoked. @throws StrataError `key_not_found`
   */
  revokeKey(actor: Allowed<"operate">, id: KeyId): Promise<boolean>;
  /** The keys that are valid now, newest first, up to `limit`. */
  validKeys(actor: Allowed<"explain">, limit: number): Promise<readonly AccessKey[]>;
  /** Called before a server listens on an address that other machines reach. @throws StrataError `keys_missing` if no key is valid */
  checkAnyKey(actor: Allowed<"explain">, host: string): Promise<void>;
  /** The actor with that secret; undefined if no valid key has it. Every wrong secret costs the same work. */
  actorWith(org: OrgId, secret: string): Promise<Actor | undefined>;
}

/** The functions of keys, as `runtime.use` gives them. */
export const KEY_API = featureApi<KeyApi>("keys");

export const KEY_NOT_FOUND = errorKind("key_not_found", {
  status: 404,
  exit: 3,
  retry: false,
  message: "no key of that id is in reach",
});

export const KEYS_MISSING = errorKind("keys_missing", {
  status: 409,
  exit: 6,
  retry: false,
  message: "a server for other machines needs a key",
});

const CHANCE = 32;
const SHOWN = 6;
const BEGINS = "sk-strata-";
const DAY = 86_400_000;
const MINUTE = 60_000;

export function keyApi(parts: Parts): KeyApi {
  const { clock } = parts;
  const keptKeys = () => parts.store.part(KEY_STORE);
  const validKeys: KeyApi["validKeys"] = (actor, limit) =>
    keptKeys().keys(actor.org, { limit, validAt: clock.recorded(), ...ownReach(actor) });
  return {
    createKey: async (actor, wish) => {
      const reach = await reachOf(parts, actor, wish);
      const secret = `${BEGINS}${Buffer.from(parts.random(CHANCE)).toString("base64url")}`;
      const at = clock.recorded();
      const made = await keptKeys().createKey(actor.org, {
        ...reach,
        name: wish.name,
        role: wish.role,
        prefix: secret.slice(0, BEGINS.length + SHOWN),
        digest: digestOf(secret),
        ...doneBy(actor),
        at,
        ...(wish.days !== undefined && { expiresAt: at + wish.days * DAY }),
      });
      return { ...made, secret };
    },
    keys: (actor, wish) => keptKeys().keys(actor.org, { ...wish, ...ownReach(actor) }),
    validKeys,
    checkAnyKey: async (actor, host) => {
      if ((await validKeys(actor, 1)).length > 0) return;
      const message = `other machines can reach ${host}, and there is no key for whoever asks from there; run \`strata key create NAME --role operator\` first, or leave --host out to serve this machine alone`;
      throw KEYS_MISSING.of(message, { host });
    },
    revokeKey: async (actor, id) => {
      const key = await keptKeys().key(actor.org, { id });
      if (key === undefined || !isWithin(actor, key))
        throw KEY_NOT_FOUND.of(
          `there is no key ${id} in your reach; \`strata key list\` or \`GET /v1/keys\` lists them`,
          {
            key: id,
          },
        );
      return keptKeys().revokeKey(actor.org, { id, ...doneBy(actor), at: clock.recorded() });
    },
    actorWith: async (org, secret) => {
      const digest = digestOf(secret);
      const found = await keptKeys().keyWith(org, { digest });
      const now = clock.recorded();
      // Looked up by the digest alone; compared again in constant time, so that it does not depend on a database's idea of equality.
      if (!isSameDigest(found?.digest ?? NOBODYS, digest) || found === undefined || !isValid(found, now))
        return undefined;
      await noteUse(parts, org, found, now);
      const { id, role, agent, contact } = found;
      return { org, id: actorId(`key:${id}`), role, ...given("agent", agent), ...given("contact", contact) };
    },
  };
}

/** The digest to compare with if no key was found. */
const NOBODYS = digestOf("");

const isSameDigest = (one: Digest, other: Digest): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** At most once a minute: a key is read far more often than anybody asks when it was used. */
async function noteUse({ store }: Parts, org: OrgId, { id, usedAt = 0 }: AccessKey, at: number): Promise<void> {
  if (at - usedAt < MINUTE) return;
  // If nothing can be written, `/health` reports it, and access continues.
  await store
    .part(KEY_STORE)
    .noteUse(org, { id, at })
    .catch(() => undefined);
}

const ownReach = ({ agent, contact }: Actor): KeyReach => ({ ...given("agent", agent), ...given("contact", contact) });

const isWithin = (actor: Actor, reach: KeyReach): boolean =>
  (actor.agent === undefined || actor.agent === reach.agent) &&
  (actor.contact === undefined || actor.contact === reach.contact);

/** Whose data the new key opens: an agent that there is, and a contact as that agent knows it. */
async function reachOf(
  parts: Parts,
  actor: Allowed<"operate">,
  { role, agent: name, contact: wanted }: KeyWish,
): Promise<KeyReach> {
  if (role === "contact" && wanted === undefined)
    throw invalidInput(
      "a key of the role contact is for one contact; name the `contact` (`--as` on the command line), and the `agent` it talks with",
    );
  if (role === "agent" && name === undefined)
    throw invalidInput("a key of the role agent is for one agent; name the `agent`");
  if (wanted !== undefined && name === undefined)
    throw invalidInput("each agent knows its own contacts; name the `agent` beside the `contact`");
  if (!isWithin(actor, { ...(name && { agent: name }), ...(wanted && { contact: wanted }) })) {
    const own = [actor.agent, actor.contact].flatMap((one) => one ?? []).join(" and ");
    const message = `a key opens no more than its maker may reach, and that is ${own}; name the same, or ask an operator of ${actor.org}`;
    throw new StrataError("not_allowed", message, { role: actor.role });
  }
  if (name === undefined) return {};
  agentNamed(parts, actor, name);
  const { contact } = await writableScope(parts.agents, { org: actor.org, agent: name, contact: wanted ?? null });
  return { agent: name, ...(contact !== null && { contact }) };
}

const invalidInput = (message: string): StrataError => new StrataError("invalid_input", message);
