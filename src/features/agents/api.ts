import type { z } from "zod";
import {
  type Agent,
  type AgentName,
  type Allowed,
  CONVERSATION_LIMITS,
  lowestTrust,
  SELF,
  type TextVersion,
} from "../../protocol/index.ts";
import type { Act, Position } from "../../store/index.ts";
import {
  type AgentAccess,
  accessTo,
  accessToEach,
  closedChannels,
  featureApi,
  type Parts,
  REPLAY,
  recordAct,
} from "../../turn/index.ts";
import { APPROVAL_STORE, withDecision } from "../approvals/index.ts";
import { isOwnReport, OUTBOX_STORE } from "../deliveries/index.ts";
import { draftCounts } from "../drafts/index.ts";
import { contradictingLessons } from "../learning/index.ts";
import type { LifeApi, LifeView } from "../life/api.ts";
import { LOG_STORE, type LogHead } from "../logs/index.ts";
import type { LayerView, PassedOver } from "../texts/api.ts";
import { layerViews, passedOver, type TextOrigin } from "../texts/index.ts";
import type { Attention, SNAPSHOT } from "./lines.ts";
import { renameAgent } from "./rename.ts";

/** Everything about an agent at once. */
interface AgentSnapshot extends Pick<z.output<typeof SNAPSHOT>, "inbox" | "outbox" | "undeliverable"> {
  readonly agent: Agent;
  readonly layers: readonly LayerView[];
  readonly life?: LifeView;
  readonly logs: readonly LogHead[];
}

/** What operators see of an agent as a whole. @throws StrataError `not_allowed` for other actors, `agent_not_found` */
export interface AgentApi {
  /** Everything about the agent at once, for its operator. */
  snapshot(actor: Allowed<"read">, agent: AgentName): Promise<AgentSnapshot>;
  /** What waits for an operator, of one agent or of all. It reads no messages, so it is not recorded. */
  attention(actor: Allowed<"read">, agent?: AgentName): Promise<readonly Attention[]>;
  /** Why nothing is kept, until something is again: a commit failed because of the disk or the database's server. */
  storeTrouble(actor: Allowed<"read">): Promise<string | undefined>;
  /** Gives an agent the record that it has under an earlier name. @throws StrataError as the store's `renameAgent` */
  rename(actor: Allowed<"operate">, agent: AgentName, was: AgentName): Promise<void>;
  /** What operators did with the agent, newest first, and to what. Text edits are listed by `textMoves`. */
  acts(actor: Allowed<"read">, agent: AgentName, limit: number, after?: Position): Promise<readonly Act[]>;
}

/** The functions of agents, as `runtime.use` gives them. */
export const AGENT_API = featureApi<AgentApi>("agents");

/** The condition of an agent, and its credits. */
type Lives = Pick<LifeApi, "life" | "funds">;

/** An agent's whole state at once, what needs an operator, and what operators did. */
export function agentApi(parts: Parts, lives: Lives, complete: (agent: Agent) => Promise<Agent>): AgentApi {
  const at = async (actor: Allowed<"read">, agent: AgentName): Promise<AgentAccess> => {
    const access = accessTo(parts, actor, agent);
    return { ...access, agent: await complete(access.agent) };
  };
  return {
    snapshot: async (actor, agent) => snapshot(await at(actor, agent), actor, lives),
    attention: async (actor, agent) => attention(accessToEach(parts, actor, agent), (name) => lives.funds(actor, name)),
    storeTrouble: async () => parts.store.trouble(),
    rename: (actor, agent, was) => renameAgent(parts, actor, { agent, was }),
    acts: async (actor, agent, limit, after) => parts.store.acts(accessTo(parts, actor, agent).owner, limit, after),
  };
}

async function snapshot(access: AgentAccess, actor: Allowed<"read">, { life }: Lives): Promise<AgentSnapshot> {
  const { parts, owner, agent } = access;
  await recordAct(access, "read snapshot", agent.version);
  return {
    agent,
    layers: await layerViews(access),
    ...(agent.life !== undefined && { life: await life(actor, agent.name) }),
    logs: await parts.store.part(LOG_STORE).logs(owner, CONVERSATION_LIMITS.senders),
    inbox: await parts.store.inboxCount(owner),
    ...(await parts.store.part(OUTBOX_STORE).mailCounts(owner)),
  };
}

/**
 * How long a turn without a reply waits for an operator, in milliseconds. After that, a sender who still wants an answer has asked again.
 */
const UNANSWERED_FOR = 7 * 86_400_000;

/** How long an edit that an agent activated itself is shown, in milliseconds. It stays in the text's history. */
const EDITED_FOR = 7 * 86_400_000;

/** At most this many proposals are shown with their origin, and this many moves are searched for edits. */
const MOST_PROPOSED = 20;
const MOST_MOVES = 100;

/** The origin of versions: the contact whose turn wrote it, under its present name in the record. */
const originsOf = ({ parts, owner }: AgentAccess, versions: readonly TextVersion[]): Promise<readonly TextOrigin[]> =>
  Promise.all(
    versions.map(async ({ layer, part, n, parent, inputs, turn }) => {
      const wrote = turn && (await parts.store.turn({ ...owner, contact: null }, turn));
      return {
        layer,
        ...(part !== undefined && { part }),
        n,
        parent,
        inputs,
        ...(turn !== undefined && { turn }),
        ...(wrote !== undefined && { contact: wrote.scope.contact }),
      };
    }),
  );

/** The active versions that a turn of the agent made active: neither a person's, nor approved, chosen again or undone by one. */
async function selfEdited({ parts, owner }: AgentAccess, active: readonly TextVersion[]) {
  const since = parts.clock.recorded() - EDITED_FOR;
  const recent = active.filter(({ by, at }) => by === "agent" && at >= since);
  if (recent.length === 0) return [];
  const moves = await parts.store.textMoves(owner, { limit: MOST_MOVES });
  return recent.filter(({ layer, part }) => {
    const last = moves.find((move) => move.layer === layer && move.part === part && move.from !== move.to);
    return last?.kind === "edited" && last.by === "agent";
  });
}

/** How long an agent's reports on turns that it began itself are shown, in milliseconds, and how many. */
const REPORTED_FOR = 7 * 86_400_000;
const MOST_REPORTS = 5;

/**
 * The agent's reports on the newest turns that it began itself. They may quote a contact, so they are shown only here, where reading them
 * is recorded.
 */
async function ownReports({ parts, owner }: AgentAccess): Promise<Attention["ownTurns"]> {
  const since = parts.clock.recorded() - REPORTED_FOR;
  const wish = { contact: SELF, ownTurns: true, limit: MOST_REPORTS } as const;
  const found = (await parts.store.part(OUTBOX_STORE).mail(owner, wish)).filter(
    (one) => isOwnReport(one) && one.at >= since,
  );
  return Promise.all(
    found.map(async ({ turn, at, text }) => {
      const { requests = [] } = (await parts.store.turn({ ...owner, contact: SELF }, turn)) ?? {};
      const trust = lowestTrust(["agent", ...requests.map(({ taint }) => taint)]);
      return { turn, at, trust, ...(trust === "agent" && { text }) };
    }),
  );
}

/** What waits for an operator, agent by agent. */
function attention(
  accesses: readonly AgentAccess[],
  fundsOf: (agent: AgentName) => ReturnType<LifeApi["funds"]>,
): Promise<readonly Attention[]> {
  return Promise.all(
    accesses.map(async (access) => {
      const { parts, owner } = access;
      const counts = await parts.store.proposalCounts(owner);
      const { undeliverable } = await parts.store.part(OUTBOX_STORE).mailCounts(owner);
      const since = parts.clock.recorded() - UNANSWERED_FOR;
      const except = [...closedChannels(parts), REPLAY];
      const unanswered = await parts.store.unanswered(owner, { since, except, limit: 100 });
      // Without credits it sleeps, whether or not a turn has noticed already.
      const asleep = (await fundsOf(owner.agent))?.asleep;
      const active = await parts.store.activeTexts(owner);
      const passed = passedOver(access.agent, active);
      const waiting = await parts.store.proposals(owner, { limit: MOST_PROPOSED });
      const inState = (wanted: PassedOver["state"]): number => passed.filter(({ state }) => state === wanted).length;
      const everybody = { ...owner, contact: null };
      const asked = await parts.store.part(APPROVAL_STORE).approvals(everybody, { status: "waiting" }, 100);
      const questions = asked.filter(({ due }) => due !== undefined);
      const calls = asked.filter(({ due }) => due === undefined);
      const [decidedWith] = calls.flatMap((one) => withDecision(parts, one).decidedWith ?? []);
      const late = questions.filter(({ due = 0 }) => due < parts.clock.recorded());
      const { drafts, overdue } = await draftCounts(parts, access.agent);
      return {
        agent: owner.agent,
        approvals: calls.length,
        ...(decidedWith !== undefined && { decidedWith }),
        escalations: { open: questions.length, overdue: late.length },
        drafts: { open: drafts, overdue },
        proposals: counts.reduce((sum, { proposals }) => sum + proposals, 0),
        proposed: await originsOf(access, waiting),
        edited: await originsOf(access, await selfEdited(access, active)),
        ownTurns: await ownReports(access),
        displaced: inState("displaced"),
        outdated: inState("outdated"),
        passedOver: passed,
        contradicting: await contradictingLessons(parts, owner),
        undeliverable,
        unanswered,
        ...(asleep !== undefined && { asleep }),
      };
    }),
  );
}
