import { randomBytes } from "node:crypto";
import { agentSpec, blueprintFolder, vaultOf } from "../../agents/index.ts";
import { loadProject, reviveAgent } from "../../app/entry/agents.ts";
import { allChannels, allFeatures, allOperations, allParts, errorCodes } from "../../app/entry/features.ts";
import { openRuntime } from "../../app/entry/runtime.ts";
import { memoryTools } from "../../features/memories/index.ts";
import { type Script, scripted, wireBody } from "../../models/index.ts";
import {
  type Agent,
  type Allowed,
  actorId,
  agentName,
  allow,
  type Clock,
  type Model,
  orgId,
  type Request,
  type Scheduling,
  StrataError,
  type Tool,
  type Vault,
} from "../../protocol/index.ts";
import { openSqlite, type Store } from "../../store/index.ts";
import { testFeatures } from "../../turn/index.contract.ts";
import type { Runtime, TurnSteps } from "../../turn/index.ts";
import { toolset } from "../../turn/tools/index.ts";
import { cardOf } from "../../wire/index.ts";
import { actorsBy, createServer, type Server, type ServerParts, siteOf } from "./index.ts";

export const TOKEN = `sk_strata_${"a".repeat(43)}`;
export const HERE = "127.0.0.1:4600";
export const NOW = Date.UTC(2026, 10, 21, 9, 30);

/** A request as a test writes it. Omitted fields have valid values. */
export interface Asked {
  readonly body?: unknown;
  /** The body as it goes over the wire. */
  readonly raw?: string | Uint8Array;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpFixture {
  readonly server: Server;
  readonly parts: ServerParts;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly sent: readonly Request[];
  readonly operator: Allowed<"operate">;
  readonly stranger: Allowed<"operate">;
  /** `ask("GET /v1/agents")`, as the operator. */
  readonly ask: (line: string, asked?: Asked) => Promise<Response>;
  /** The same, with the JSON of the answer. */
  readonly json: (line: string, asked?: Asked) => Promise<Json>;
  /** The secret of a new key. */
  readonly key: (role: string, reach?: object) => Promise<string>;
  /** The id of ann's thread with the companion. */
  readonly open: (contact?: string, key?: string) => Promise<string>;
}

/** JSON as a test looks into it. */
export interface Json {
  readonly status: number;
  readonly body: unknown;
}

/** The companion, with only the tools that need no folder. */
function companion(org: string): Agent {
  const agent = loadProject(blueprintFolder("companion"), { env: {} }).agents.get(agentName("companion"));
  if (agent === undefined) throw new Error("the companion is not shipped");
  return { ...agent, org: orgId(org), tools: agent.tools.filter((tool) => tool.startsWith("memory")) };
}

/** Further parts of a fixture's runtime. */
interface FixtureParts {
  readonly vault?: Vault;
  readonly steps?: readonly TurnSteps[];
  readonly scheduling?: Scheduling;
  /** Another than one in memory. */
  readonly store?: Store;
}

/** The server over a real runtime and database, with a scripted model or another; two organizations have an agent each, and `more`. */
export async function httpFixture(
  speaker: readonly Script<Request>[] | Model = [],
  { steps = [], scheduling, store: given, vault = vaultOf([]), ...changes }: Partial<ServerParts> & FixtureParts = {},
  more: readonly Agent[] = [],
  tools: readonly Tool[] = [],
): Promise<HttpFixture> {
  const { model, sent } = "send" in speaker ? { model: speaker, sent: [] } : scripted(speaker);
  const agents = [companion("home"), companion("away"), ...more];
  const store = given ?? (await openSqlite(":memory:", { parts: await allParts() }));
  // The scripted model costs nothing, and that is known: agents may live on credits here.
  const priced = (ref: string) => ({ ...cardOf(ref), priced: true });
  const modelOf = async () => model;
  const counterOf = async () => (text: string) => Math.ceil(text.length / 3);
  const clock: Clock = { recorded: () => NOW, real: () => Date.now() };
  const runtime = openRuntime({
    agents: { all: agents, spec: agentSpec, revive: reviveAgent },
    store,
    tools: toolset([...memoryTools(store), ...tools]),
    toolsOver: async (over) => toolset([...memoryTools(over), ...tools]),
    removeFiles: async () => undefined,
    filesOf: async () => [],
    renameFiles: async () => undefined,
    channels: await allChannels(),
    sources: new Map(),
    vault,
    cardOf: priced,
    observe: () => undefined,
    modelOf,
    counterOf,
    clock,
    random: (n) => randomBytes(n),
    holder: "test",
    alive: () => true,
    features: [...(await allFeatures()), ...testFeatures(steps)],
    ...(scheduling && { scheduling }),
  });
  const operator = allow({ org: orgId("home"), id: actorId("token:operator"), role: "operator" }, "operate");
  const parts: ServerParts = {
    operations: await allOperations(),
    errorCodes,
    runtime,
    site: siteOf({ host: "127.0.0.1", port: 4600 }),
    actorOf: actorsBy({ runtime: changes.runtime ?? runtime, operator }, TOKEN),
    health: async () => ({ status: "ok", version: "1.2.3", agents: [], data: "/data", turns: runtime.load() }),
    modelNameOf: () => "scripted",
    modelChoiceOf: () => ({ ref: "scripted", because: "the test chose it" }),
    modelOf,
    cardOf: priced,
    guessedWindow: () => undefined,
    counterOf,
    projects: [],
    bodyOf: wireBody,
    clock,
    ...changes,
  };
  const server = createServer(parts);
  const ask = asking(server);
  const json = async (line: string, asked?: Asked): Promise<Json> => {
    const response = await ask(line, asked);
    return { status: response.status, body: await response.json() };
  };
  const open = async (contact = "ann", key = "main"): Promise<string> => {
    const { body } = await json("POST /v1/threads", { body: { agent: "companion", contact, key } });
    return String(at(body, "id"));
  };
  const key = async (role: string, reach: object = {}): Promise<string> =>
    String(at((await json("POST /v1/keys", { body: { name: role, role, ...reach } })).body, "secret"));
  return {
    server,
    parts,
    runtime,
    store,
    sent,
    operator,
    stranger: allow({ ...operator, org: orgId("away") }, "operate"),
    ask,
    json,
    key,
    open,
  };
}

/** A message on a thread, for `ask` and `json`; `stream` asks for the events as they come. */
export const to = (
  thread: unknown,
  body: object,
  { agent = "companion", stream = false } = {},
): readonly [string, Asked] => [
  `POST /v1/agents/${agent}/messages`,
  { body: { thread, ...body }, ...(stream && { headers: { accept: "text/event-stream" } }) },
];

function asking(server: Server): HttpFixture["ask"] {
  return async (line, { body, raw, token = TOKEN, headers = {} } = {}) => {
    const [method = "", path = ""] = line.split(" ");
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    return server.request(path, {
      method,
      headers: {
        host: HERE,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
  };
}

/** The value at a path of a JSON value. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inside, key) => {
    if (typeof inside !== "object" || inside === null) throw new StrataError("unexpected", `no ${key} in ${inside}`);
    return Reflect.get(inside, key);
  }, value);
}

/** The server-sent events of a text. */
export function eventsOf(text: string): readonly { readonly type: string; readonly data: unknown }[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [, type = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return { type, data: JSON.parse(data) };
    });
}
