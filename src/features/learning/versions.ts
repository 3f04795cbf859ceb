import {
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  isInPlace,
  type Layer,
  layerWith,
  type StrataError,
  type TextVersion,
  untrusted,
} from "../../protocol/index.ts";
import { accessTo, agentNamed, setupOf, type TurnParts, type Use } from "../../turn/index.ts";
import { DRAFT_STORE } from "../drafts/index.ts";
import { TEXT_API } from "../texts/index.ts";
import type { KeptCandidate, Verdict } from "./candidate-store.ts";
import { type Digesting, digest, NO_MODELS } from "./digest.ts";
import { GATE_REPORT, type Gate, type GateReport, withoutSentences } from "./gate.ts";
import { learnFromRecord } from "./lessons.ts";
import { isOwnWord, lastDigest, type Material, materialFor } from "./material.ts";
import { isStale, rulesOf } from "./rules.ts";
import { LEARNING_STORE } from "./store.ts";
import { WORDING } from "./wording.ts";

/** How many versions are available (004.40). A thread pinned to an older one keeps its text. */
export const MOST_VERSIONS = 20;

/** What making versions needs. `gate` judges a digest's output; without it nothing is judged, and nothing becomes active by itself. */
export interface Making {
  readonly parts: () => TurnParts;
  readonly use: Use;
  readonly gate?: Gate;
}

/** How a digest ended. */
export interface DigestEnd {
  readonly outcome: "nothing" | "refused" | "proposed" | "active";
  readonly because: string;
  readonly turn?: string;
  readonly version?: number;
  readonly report?: GateReport;
}

/** Digests what is new, judges it, and asks an operator about it, or activates it if that is allowed. */
export async function digestNow(making: Making, name: AgentName, how: Digesting): Promise<DigestEnd> {
  const parts = making.parts();
  const { owner } = accessTo(parts, how.actor, name);
  await learnFromRecord(parts, owner);
  const left = (await undecidedCandidates(parts, owner))[0];
  if (left !== undefined) return judge(making, name, { ...how, candidate: left });
  const made = await digest(parts, name, how);
  if (made === undefined) return { outcome: "nothing", because: "no new lesson is worth a rule" };
  const { turn, because } = made;
  if (because !== undefined) return { outcome: "refused", because, turn };
  const [candidate] = await undecidedCandidates(parts, owner);
  if (candidate === undefined) return { outcome: "nothing", because: "another program has taken it up", turn };
  return judge(making, name, { ...how, candidate });
}

/** Digest outputs without a verdict, as after a program was killed. */
async function undecidedCandidates(
  { store }: TurnParts,
  owner: { readonly org: Agent["org"]; readonly agent: AgentName },
) {
  const all = await store.part(LEARNING_STORE).candidates(owner, MOST_VERSIONS);
  return all.filter(({ verdict }) => verdict === undefined);
}

interface Judging extends Digesting {
  readonly candidate: KeptCandidate;
}

async function judge({ parts: now, use, gate }: Making, name: AgentName, judging: Judging): Promise<DigestEnd> {
  const parts = now();
  const { actor, signal, progress, candidate } = judging;
  const { turn, layer, body: text, lessons, parent, scope } = candidate;
  const owner = { org: scope.org, agent: name };
  const report = await gate?.(
    { ...owner, layer, text, lessons, ...(parent !== undefined && { parent }) },
    { actor, signal, ...(progress && { progress }) },
  );
  const say = async (verdict: Omit<Verdict, "at" | "report">): Promise<void> => {
    const said = { ...verdict, at: parts.clock.recorded(), ...(report && { report: withoutSentences(report) }) };
    await parts.store.part(LEARNING_STORE).judgeCandidate(scope, turn, said);
  };
  const details = { turn, ...(report && { report }) };
  if (report?.passed === false) {
    await say({ verdict: "refused", because: report.reason });
    return { outcome: "refused", because: report.reason, ...details };
  }
  const proposed = await propose({ parts, use }, name, judging).catch((thrown: unknown) => asStrataError(thrown));
  if (!("n" in proposed)) {
    if (proposed.code !== "text_refused") throw proposed;
    await say({ verdict: "refused", because: proposed.message });
    return { outcome: "refused", because: proposed.message, ...details };
  }
  const { n } = proposed;
  await say({ verdict: "proposed", because: report?.reason ?? "nothing has judged it", version: n });
  if (report === undefined || !(await mayStand(parts, name, candidate)))
    return { outcome: "proposed", because: "it waits for an operator", version: n, ...details };
  const reason = untrusted(WORDING.byItself);
  await use(TEXT_API).decideText(actor, name, { layer, n, verdict: "approved", reason });
  return { outcome: "active", because: reason, version: n, ...details };
}

/** The proposal for an operator; one left by a killed program is taken up. */
async function propose(
  { parts, use }: { readonly parts: TurnParts; readonly use: Use },
  name: AgentName,
  { actor, candidate: { scope, layer, body: text, summary, inputs } }: Judging,
): Promise<TextVersion | StrataError> {
  const known = await parts.store.proposals({ org: scope.org, agent: name }, { limit: MOST_VERSIONS });
  const left = known.find((one) => one.layer === layer && one.text === text);
  if (left !== undefined) return left;
  const reason = untrusted(summary === "" ? WORDING.digested : summary);
  return use(TEXT_API).editText(actor, name, { layer, text, reason, inputs });
}

/** Law 6: only a text without a contact's words, or words of the agent alone, becomes active by itself. */
async function mayStand(parts: TurnParts, name: AgentName, { scope, lessons, inputs, parent }: KeptCandidate) {
  const agent = parts.agents.all.find((one) => one.org === scope.org && one.name === name);
  if (agent?.learning?.mode !== "auto" || inputs === "contact") return false;
  const sources = await parts.store.part(LEARNING_STORE).sources({ ...scope, contact: null }, {}, 10_000);
  const taught = sources.filter(({ lesson }) => lessons.includes(lesson));
  const active = (await parts.store.activeTexts(scope)).find((one) => one.layer === learningLayer(agent).id);
  return taught.length > 0 && taught.every(isOwnWord) && active?.n === parent;
}

/** @throws StrataError `text_not_found` for an agent without one */
export const learningLayer = (agent: Agent): Layer =>
  agent.layers.find(({ source }) => source.kind === "learning") ?? layerWith(agent, "learning");

/** A version with its rules, its sources, and its verdict. */
export interface Version {
  readonly n: number;
  readonly status: TextVersion["status"];
  readonly active: boolean;
  readonly at: number;
  readonly reason: string;
  readonly inputs: TextVersion["inputs"];
  readonly rules: readonly { readonly text: string; readonly stale: boolean }[];
  readonly lessons: readonly string[];
  /** Why the guard wants a person to look at it. */
  readonly guard?: string;
  readonly judged?: string;
  readonly report?: GateReport;
}

/** The available versions and those that wait, newest first. */
export async function versionsOf(
  parts: TurnParts,
  actor: Allowed<"read">,
  name: AgentName,
): Promise<readonly Version[]> {
  const { agent, owner } = accessTo(parts, actor, name);
  const layer = learningLayer(agent);
  const all = await parts.store.textVersions(owner, { key: { layer: layer.id }, limit: 10 * MOST_VERSIONS });
  const made = await parts.store.part(LEARNING_STORE).candidates(owner, 10 * MOST_VERSIONS);
  return all
    .filter((one) => isInPlace(layer, one) && (one.status === "kept" || one.status === "proposed") && one.text !== "")
    .slice(0, MOST_VERSIONS)
    .map(({ n, status, active, at, reason, inputs, text, verdict }) => {
      const from = made.find(({ verdict }) => verdict?.version === n);
      const anchors = from?.anchors ?? {};
      return {
        ...{ n, status, active, at, reason, inputs, lessons: from?.lessons ?? [] },
        rules: rulesOf(text).map((rule) => ({ text: rule, stale: isStale(rule, anchors, agent) })),
        ...(verdict.verdict !== "pass" && { guard: verdict.findings.join("; ") }),
        ...(from?.verdict && {
          judged: from.verdict.because,
          ...(from.verdict.report !== undefined && { report: GATE_REPORT.parse(from.verdict.report) }),
        }),
      };
    });
}

/** Reviewed drafts, by the version in their requests: how many were changed in substance. */
export interface Rate {
  readonly version: number;
  readonly drafts: number;
  readonly edited: number;
  readonly rate: number;
}

/** How many reviewed drafts are counted, newest first. */
const MOST_COUNTED = 5_000;

export async function ratesOf(parts: TurnParts, actor: Allowed<"read">, name: AgentName): Promise<readonly Rate[]> {
  const { owner } = accessTo(parts, actor, name);
  await learnFromRecord(parts, owner);
  const kept = parts.store.part(LEARNING_STORE);
  const decided = await parts.store.part(DRAFT_STORE).decidedTurns(owner, MOST_COUNTED);
  const used = await kept.used(
    owner,
    decided.map(({ turn }) => turn),
  );
  const changed = await kept.taught(
    owner,
    decided.map(({ id }) => id),
  );
  const byVersion = Map.groupBy(decided, ({ turn }) => used.get(turn)?.version ?? 0);
  return [...byVersion]
    .map(([version, drafts]) => {
      const edited = drafts.filter(({ id }) => changed.has(id)).length;
      return { version, drafts: drafts.length, edited, rate: Math.round((1000 * edited) / drafts.length) / 1000 };
    })
    .sort((a, b) => b.version - a.version);
}

/** Whether a digest is due now: something is left of the last one, or its time has come and a lesson is worth it. */
export async function digestDue(parts: TurnParts, actor: Allowed<"operate">, name: AgentName): Promise<boolean> {
  const agent = agentNamed(parts, actor, name);
  if (agent.learning === undefined) return false;
  const owner = { org: agent.org, agent: name };
  const { model } = await setupOf(parts, { scope: owner, version: agent.version }, {});
  if (NO_MODELS.includes(model.ref)) return false;
  if ((await undecidedCandidates(parts, owner)).length > 0) return true;
  const last = await lastDigest(parts.store, agent);
  if (last !== undefined && parts.clock.recorded() - last < agent.learning.every * 60_000) return false;
  const material: Material | undefined = await materialFor(parts, agent);
  return material !== undefined && material.lessons.length > 0;
}
