import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectLock, USUAL_MODELS } from "../../../app/entry/projects.ts";
import { serverFacts, storeName, vectorExtension } from "../../../app/entry/store.ts";
import { type App, type AppOptions, openApp, recordFile, storeAt } from "../../../app.ts";
import {
  AGENT_API,
  answeringOf,
  attentionLines,
  problemsOf,
  refusedParameters,
} from "../../../features/agents/index.ts";
import { APPROVAL_API } from "../../../features/approvals/index.ts";
import { FILE_API } from "../../../features/files/index.ts";
import { cageMissing } from "../../../features/handlers/index.ts";
import { KEY_API, keyLines, unknownKeyLines } from "../../../features/keys/index.ts";
import { LIFE_API, PATIENCE, unreadLine } from "../../../features/life/index.ts";
import { MEMORY_API } from "../../../features/memories/index.ts";
import { badSkillLine, SKILL_API } from "../../../features/skills/index.ts";
import { TEXT_API } from "../../../features/texts/index.ts";
import { count } from "../../../print/index.ts";
import { type Agent, type AgentName, asStrataError, type CacheUse, isCoreError } from "../../../protocol/index.ts";
import { textWarning } from "../shell/teller.ts";
import { type Check, dataFolder, node, type Outcome, ok, timeZones, warn } from "./doctor-machine.ts";

export type { Check } from "./doctor-machine.ts";

type CheckedProject = Required<Pick<AppOptions, "folder" | "data" | "env">> & Pick<AppOptions, "recordOnly">;

/**
 * Looks at everything, one after the other; what one look throws is that check's failure. Makes nothing in folder or data. `unread`: why
 * a `.env` is not read that a person would expect to be.
 */
export async function examine(place: CheckedProject, unread: string | undefined): Promise<readonly Check[]> {
  const empty = mkdtempSync(join(tmpdir(), "strata-doctor-"));
  try {
    const engine = { folder: empty, data: join(empty, "engine"), env: {} };
    const store = await storeAt({ folder: place.folder, data: place.data, env: place.env }).catch(() => undefined);
    const checks = [
      await check("node", () => node()),
      await check("zones", () => timeZones()),
      await check("database", () => inApp(engine, database)),
      await check("data", () => dataFolder(place.data)),
      await check("config", () => config(place)),
    ];
    // Without a readable strata.yaml there is nothing to be locked.
    if (checks.at(-1)?.state === "ok")
      checks.push(await check("lock", () => lock(place)), ...(await checkTexts(place)));
    if (store !== undefined) {
      const isFile = store === recordFile(place.data);
      if (!isFile) checks.push(await check("store", () => server(store)));
      const env = isFile ? {} : { STRATA_STORE: store };
      checks.push(
        await check("record", () => inApp({ ...engine, env, data: place.data, recordOnly: true }, checkRecord)),
      );
    }
    if (checks.some(({ state }) => state === "fail")) return checks;
    const real = store !== undefined ? place : { ...place, data: join(empty, "agents") };
    return [...checks, ...(await checkAgents(real, unread))];
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

/** The declared agents, opened once: an error that prevents it is reported once. */
async function checkAgents(place: CheckedProject, unread: string | undefined): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const opened = await check("agents", () =>
    inApp(place, async (app) => {
      checks.push(await check("models", () => models(app, unread)));
      checks.push(await check("vectors", () => checkVectors(app)));
      checks.push(await check("waiting", () => checkWaiting(app)));
      checks.push(await check("approvals", () => approvals(app)));
      checks.push(await check("turns", () => checkLeases(app)));
      checks.push(await check("keys", () => keys(app)));
      checks.push(await check("attention", () => attention(app)));
      const reading = app.runtime.agents(app.operator).filter(hasFiles);
      if (reading.length > 0) checks.push(await check("files", () => files(app, reading)));
      const kept = await app.keptAgents(app.operator.org);
      if (formerNames(app, kept).length > 0) checks.push(await check("former", () => former(app, kept)));
      const handled = app.runtime.agents(app.operator).filter(({ handler }) => handler !== undefined);
      if (handled.length > 0) checks.push(await check("handlers", () => handlers(app, handled)));
      if (withAccounts(app).length > 0) checks.push(await check("accounts", () => accounts(app)));
      return ok("opened");
    }),
  );
  return opened.state === "fail" ? [opened] : checks;
}

async function check(what: string, look: () => Outcome | Promise<Outcome>): Promise<Check> {
  try {
    return { what, ...(await look()) };
  } catch (thrown) {
    const { code, message } = asStrataError(thrown);
    return { what, state: "fail", message: message, ...(isCoreError(code) && { code }) };
  }
}

async function inApp(place: CheckedProject, look: (app: App) => Promise<Outcome>): Promise<Outcome> {
  const app = await openApp(place);
  try {
    return await look(app);
  } finally {
    await app.close();
  }
}

async function database({ runtime, operator }: App): Promise<Outcome> {
  const [agent] = runtime.agents(operator);
  if (agent === undefined) return ok("SQLite opens");
  const own = { org: agent.org, agent: agent.name, contact: null };
  await runtime.use(MEMORY_API).searchMemories(operator, own, { query: "green bicycle", limit: 1 });
  return ok("SQLite opens, migrates and searches full text");
}

async function server(address: string): Promise<Outcome> {
  const facts = await serverFacts(address);
  const name = storeName(address);
  if (facts === undefined) return ok(name);
  const sentence = `${name}, version ${facts.version}`;
  if (!facts.isAboveRows) return ok(`${sentence}; its row-level security is active, too`);
  return warn(
    `${sentence}; this user bypasses its row-level security: connect as one who is not a superuser, for a second barrier between contacts`,
  );
}

function config(place: CheckedProject): Outcome {
  if (!isProject(place))
    return ok(`no strata.yaml in ${place.folder}: the shipped blueprints are used; \`strata init\` creates your own`);
  const { layers } = projectLock(place);
  return ok(`${join(place.folder, "strata.yaml")} declares ${[...layers.keys()].join(", ")}`);
}

const isProject = ({ folder }: CheckedProject): boolean => existsSync(join(folder, "strata.yaml"));

function lock(place: CheckedProject): Outcome {
  if (!isProject(place)) return ok("the blueprints are unchanged");
  const found = projectLock(place);
  found.check();
  const locked = [...found.layers.values()].reduce((sum, layers) => sum + layers, 0);
  return ok(`${count(locked, "immutable layer")}, unchanged since the lock`);
}

/** Editable texts, as declared. */
async function checkTexts(place: CheckedProject): Promise<readonly Check[]> {
  if (!isProject(place)) return [];
  const looked = await check("texts", async () => {
    const warnings = await projectLock(place).warnings();
    return warnings.length === 0
      ? ok("the editable ones keep the limits for edits")
      : warn(warnings.map(textWarning).join("\n"));
  });
  return [looked];
}

async function checkRecord(app: App): Promise<Outcome> {
  const heads = await Promise.all((await app.organizations()).map((org) => app.head(org)));
  const sentence = heads.map(({ org, seq }) => `${org} has ${count(seq, "link")}`).join(", ");
  return ok(sentence === "" ? "nothing is recorded yet" : `${sentence}; \`strata verify\` recomputes each of them`);
}

/** Without a model the agent cannot answer: that is a failure, reported once for all agents with the same cause. */
async function models(app: App, unread: string | undefined): Promise<Outcome> {
  const found = await answeringOf(app, app.runtime.agents(app.operator));
  const problems = problemsOf(found);
  const able = found.filter(({ problem }) => problem === undefined);
  const asking = able.filter(({ model }) => model !== "none");
  const sentence = asking.map(({ agent: { name }, model, because }) =>
    model === "rehearsal"
      ? `${name} is answered by the rehearsal, which is not a language model, because ${because}; ${KEY}`
      : `${name} is answered by ${model}, because ${because}; its settings are complete; no call was tried`,
  );
  if (asking.length < able.length)
    sentence.push(
      `${able
        .filter((one) => !asking.includes(one))
        .map(({ agent: { name } }) => name)
        .join(", ")}: no model is asked, because there are no layers`,
    );
  const guesses = [...new Set(asking.flatMap(({ model }) => app.guessedWindow(model) ?? []))];
  const refused = refusedParameters(app, asking);
  const ending = [...new Set(asking.map(({ model }) => model))].flatMap((model) => {
    const { retires } = app.cardOf(model);
    return retires === undefined
      ? []
      : [`${model} answers until ${retires}, when its provider ends it: name another one`];
  });
  const notes = [...guesses, ...ending, ...refused, ...(unread === undefined ? [] : [unread])];
  const lines = [...problems.map(({ message }) => message), ...sentence, ...notes].join("\n");
  const [first] = problems;
  if (first !== undefined)
    return { state: "fail", message: lines, ...(isCoreError(first.code) && { code: first.code }) };
  return notes.length > 0 || able.some(({ model }) => model === "rehearsal") ? warn(lines) : ok(lines);
}

const KEY = `set ${USUAL_MODELS.map(({ variable }) => variable).join(" or ")} in the environment or in .env beside strata.yaml`;

/** Memories are found by their words and, if an embedder is named, by vectors: what compares them, and what makes them. */
function checkVectors({ runtime, operator, embedderOf }: App): Outcome {
  const found = vectorExtension();
  const comparing =
    "version" in found
      ? `sqlite-vec ${found.version} compares vectors`
      : `sqlite-vec is not installed (${found.missing}), so vectors are compared in JavaScript: the same results, but slower if there are many`;
  const lines: string[] = [];
  let hasProblem = false;
  for (const { name, embedder } of runtime.agents(operator)) {
    if (embedder === undefined) continue;
    try {
      embedderOf(embedder);
      const isRehearsed = embedder === "rehearsal";
      lines.push(
        isRehearsed
          ? `${name} uses the rehearsal as embedder, which compares parts of words and knows no meaning`
          : `${name} has its vectors from ${embedder}; its settings are complete; no call was tried`,
      );
    } catch (thrown) {
      hasProblem = true;
      lines.push(`${name} finds its memories by their words alone: ${asStrataError(thrown).message}`);
    }
  }
  if (lines.length === 0) lines.push("no agent names an embedder: memories are found by their words");
  const sentence = [comparing, ...lines].join("\n");
  return hasProblem ? warn(sentence) : ok(sentence);
}

/** Code answers for them: at which level of the cage, and whether this machine has it. */
async function handlers({ runtime, operator }: App, agents: readonly Agent[]): Promise<Outcome> {
  const versions = new Map(agents.map(({ name, version }) => [name, version]));
  const threads = await runtime.newestThreads(operator, { limit: NEWEST });
  // One that answers a call ends with its answer: nothing is to be moved there.
  const older = threads.filter(
    ({ scope, version, caller }) => caller === undefined && (versions.get(scope.agent) ?? version) !== version,
  );
  const kept = older.map(
    ({ id, scope }) =>
      `${id} keeps an older version of ${scope.agent}: \`strata thread migrate ${id}\` moves it, and a new conversation has the new one`,
  );
  const lines = agents.flatMap(({ name, handler }) => {
    if (handler === undefined) return [];
    const missing = cageMissing(handler.level);
    const sentence = `${name} is answered by ${handler.file}, caged at the level \`${handler.level}\``;
    return [{ missing, message: missing === undefined ? sentence : `${sentence}: ${missing}` }];
  });
  const sentence = [...lines.map((one) => one.message), ...kept.slice(0, SHOWN)].join("\n");
  return lines.some(({ missing }) => missing !== undefined) ? warn(sentence) : ok(sentence);
}

/** How many threads are checked, newest activity first, and how many of them are named. */
const NEWEST = 100;
const SHOWN = 5;

async function checkWaiting(app: App): Promise<Outcome> {
  const { runtime, operator } = app;
  const threads = await runtime.newestThreads(operator, { limit: NEWEST });
  const found = await Promise.all(
    threads.map(async (thread) => ({ thread, messages: (await runtime.pending(operator, thread)).length })),
  );
  const without = found.filter(({ messages }) => messages > 0);
  if (without.length === 0) return ok("no message waits for an answer");
  const list = without.map(
    ({ thread, messages }) => `${count(messages, "message")} on ${thread.id} with ${thread.scope.contact}`,
  );
  return warn(
    `${list.join("\n")}\nThey will be sent with the next message; in a chat, /retry runs them now and /withdraw drops them, as \`strata thread withdraw ${without[0]?.thread.id}\` does.`,
  );
}

/** Layers that are read from the project's files. */
const hasFiles = ({ layers, skillFolders }: Agent): boolean =>
  skillFolders !== undefined || layers.some(({ source }) => source.kind === "files");

/** The project's files in prompts, and how often turns found them already read. */
async function files(app: App, agents: readonly Agent[]): Promise<Outcome> {
  const { runtime, operator } = app;
  const lines: string[] = [];
  let isHeld = false;
  for (const { name, layers, skillFolders, skills = [] } of agents) {
    if (skillFolders !== undefined) {
      const all = await runtime.use(TEXT_API).skills(operator, name);
      const inFolders = all.filter((one) => !skills.some((own) => own.name === one.name));
      const bad = await runtime.use(SKILL_API).badSkills(operator, name);
      isHeld ||= bad.length > 0;
      lines.push(`${name}: ${count(inFolders.length, "skill")} in folders`, ...bad.map(badSkillLine));
    }
    if (!layers.some(({ source }) => source.kind === "files")) continue;
    const { files: found } = await runtime.use(FILE_API).files(operator, name);
    const states = ["sent", "cut", "held back"] as const;
    const counts = states.map((state) => [state, found.filter((one) => one.state === state).length] as const);
    const perState = counts.flatMap(([state, many]) => (many === 0 ? [] : [`${many} ${state}`]));
    isHeld ||= found.some(({ state }) => state === "held back");
    lines.push(`${name}: ${perState.join(", ") || "no file is there"}; \`strata file list ${name}\` tells more`);
  }
  const uses = await cacheUses(app);
  const [hits, all] = [uses.filter((use) => use !== "miss").length, uses.length];
  const stale = uses.filter((use) => use === "stale").length;
  if (all > 0)
    lines.push(`of ${count(all, "read")} in the last turns ${hits} came from the cache, ${stale} of them stale`);
  return isHeld ? warn(lines.join("\n")) : ok(lines.join("\n"));
}

/** How the turns of the newest threads obtained what is read from disk, according to their ledgers. */
async function cacheUses({ runtime, operator }: App): Promise<readonly CacheUse[]> {
  const threads = await runtime.newestThreads(operator, { limit: 20 });
  const turns = await Promise.all(threads.map(({ id }) => runtime.turns(operator, id)));
  return turns.flat().flatMap(({ requests }) => (requests[0]?.ledger.caches ?? []).map(({ use }) => use));
}

/** Approved calls whose end was never recorded: only a person can find out what happened. */
async function approvals({ runtime, operator }: App): Promise<Outcome> {
  const calls = (status: "waiting" | "approved") =>
    runtime.use(APPROVAL_API).newestApprovals(operator, { statuses: [status], limit: NEWEST });
  const open = await calls("approved");
  const waits = count((await calls("waiting")).length, "call");
  if (open.length === 0) return ok(`${waits} waiting for a decision; the result of every approved call is known`);
  const list = open.map(({ id, tool, scope }) => `${tool} for ${scope.contact} was approved and has no result: ${id}`);
  return warn(
    `${list.join("\n")}\nIf it is not running, check what it should have changed; then \`strata approval resolve ${open[0]?.id} --note "what became of it"\`.`,
  );
}

/** What agents wait for that only an operator can do. */
async function attention({ runtime, operator }: App): Promise<Outcome> {
  const lines = (await runtime.use(AGENT_API).attention(operator)).flatMap(attentionLines);
  return lines.length === 0
    ? ok(
        "no proposal, question or draft waits, nobody was left without a reply, no agent sleeps because it has no credits",
      )
    : warn(lines.join("\n"));
}

const withAccounts = ({ runtime, operator }: App) =>
  runtime.agents(operator).filter(({ life }) => life?.account !== undefined);

/** Accounts on a chain: what keeps their balances from being read. */
async function accounts(app: App): Promise<Outcome> {
  const { runtime, operator } = app;
  const lives = await Promise.all(
    withAccounts(app).map(({ name }) => runtime.use(LIFE_API).life(operator, name, { wait: PATIENCE })),
  );
  const lines = lives.flatMap(({ agent, vitals: { wallet, unread, at } }) =>
    unread === undefined ? [] : [`${agent}: ${wallet} was not read, ${unreadLine(unread, at)}`],
  );
  if (lines.length === 0) return ok(`${count(lives.length, "account")} read`);
  return warn(
    `${lines.join("\n")}\nLook at \`life: account: rpc\` in strata.yaml; turns continue without the balance.`,
  );
}

/** Agents that were renamed or removed. */
function formerNames({ runtime, operator }: App, kept: readonly AgentName[]): readonly AgentName[] {
  const declared = runtime.agents(operator).map(({ name }) => name);
  return kept.filter((name) => !declared.includes(name));
}

/** What they had is in the record under the names of then. Lists show it of those that have had a conversation. */
function former(app: App, kept: readonly AgentName[]): Outcome {
  const { runtime, operator } = app;
  const shown = runtime.formerAgents(operator).map(({ name }) => name);
  const names = formerNames(app, kept);
  const lines = names.map((name) => {
    const shows = `: \`strata thread list ${name}\`, \`strata memory list ${name}\` and \`strata export ${name}\` show it`;
    return `${name} is no longer declared, and the record still holds its data${shown.includes(name) ? shows : ""}`;
  });
  // Only an agent of which nothing is kept can take a record.
  const free = runtime.agents(operator).filter(({ name }) => !kept.includes(name));
  const [was = "OLD", now = "NEW"] = names.length === 1 && free.length === 1 ? [names[0], free[0]?.name] : [];
  return warn([...lines, `\`strata agent rename ${was} ${now}\` gives all of it to a renamed agent.`].join("\n"));
}

/** The most keys that are counted. */
const MOST_KEYS = 1_000;

async function keys({ runtime, operator, clock }: App): Promise<Outcome> {
  const valid = await runtime.use(KEY_API).validKeys(operator, MOST_KEYS);
  const [sentence = "", ...ending] = keyLines(valid, clock.recorded());
  const named = valid.length < MOST_KEYS ? unknownKeyLines(valid, runtime.agents(operator)) : [];
  const notes = [...ending, ...named];
  return notes.length === 0 ? ok(sentence) : warn([sentence, ...notes].join("\n"));
}

/** Threads that are held now, and those whose worker is gone: its turn was interrupted. */
async function checkLeases(app: App): Promise<Outcome> {
  const leases = (await Promise.all((await app.organizations()).map((org) => app.leases(org)))).flat();
  const dead = leases.filter(({ alive }) => !alive);
  const running = count(leases.length - dead.length, "turn");
  if (dead.length === 0) return ok(leases.length === 0 ? "no turn runs" : `${running} running now`);
  const list = dead.map(({ thread, scope, holder }) => `${thread} with ${scope.contact} is held by ${worker(holder)}`);
  return warn(
    `${list.join("\n")}\nWhat was interrupted there runs again with the next message; in a chat, /retry runs it now.`,
  );
}

/** A holder's name as people read it. */
function worker(holder: string): string {
  const [host, pid] = holder.split("/");
  return `process ${pid} on ${host}, which is gone`;
}
