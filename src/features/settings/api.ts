import { z } from "zod";
import { formProblem } from "../../guard/index.ts";
import {
  type Actor,
  type Agent,
  type Allowed,
  allow,
  doneBy,
  type Layer,
  type LayerContent,
  lowestTrust,
  type Parameters,
  REASONING_LEVELS,
  type Source,
  StrataError,
  suggestion,
  type ThreadId,
  trusted,
  trustOf,
} from "../../protocol/index.ts";
import { type AlsoStored, inOrder } from "../../store/index.ts";
import {
  agentAt,
  featureApi,
  type Parts,
  parametersOf,
  type TurnSetup,
  type TurnSteps,
  threadOf,
  upToDate,
} from "../../turn/index.ts";
import { DONE_BY, list, TIME } from "../fields.ts";
import { SETTING_STORE, type SettingChange, setSetting, type ThreadSetting } from "./store.ts";

export const SETTING = z
  .object({
    name: z.string(),
    value: z.string().nullable().describe("null where nobody set it and it has no default"),
    by: z.string().optional().describe("who set it; left out, it is the default"),
    byId: DONE_BY.byId,
    at: TIME.optional(),
    choices: list(z.string()).optional().describe("the values that it may have"),
    maxLength: z.number().optional().describe("of a text: characters at most"),
    description: z.string().optional(),
    sets: z.literal("reasoning").optional().describe("`reasoning`: how much the model reasons before it answers"),
  })
  .meta({ id: "Setting" });

/** A setting of one conversation: its value, and the values it could have. */
export type SettingView = z.output<typeof SETTING>;

export interface SettingApi {
  /** The settings that the agent declares, with their values in one conversation. @throws StrataError `thread_not_found` */
  settings(actor: Allowed<"read">, thread: ThreadId): Promise<readonly SettingView[]>;
  /** Sets one from its next turn on; null: it is not set any more. @throws StrataError `thread_not_found`, `invalid_input`, `not_allowed` */
  setSetting(
    actor: Allowed<"post">,
    thread: ThreadId,
    change: { readonly name: string; readonly value: string | null },
  ): Promise<SettingView>;
}

/** The functions of settings, as `runtime.use` gives them. */
export const SETTING_API = featureApi<SettingApi>("settings");

/** An agent's declaration of one setting. */
type DeclaredSetting = NonNullable<Agent["settings"]>[string];

/** Settings of the thread decide how much the model reasons, and the content of layers with `source: setting`. */
export const settingSteps: TurnSteps = {
  setup: async ({ store }, setup, { thread: { id, scope } }) => {
    if (setup.agent.settings === undefined) return setup;
    const { contact } = scope;
    const isThere = id !== undefined && contact;
    const known = isThere ? await store.part(SETTING_STORE).settings({ ...scope, contact }, id) : [];
    const reasoning = reasoningFor(setup, known);
    const now = { ...setup, ...(reasoning && { reasoning }) };
    const texts = setup.agent.layers.flatMap(({ id: layer, source, scope: where }) =>
      source.kind === "setting" ? [[layer, contentFor(now, { source, scope: where }, known)] as const] : [],
    );
    return { ...now, texts: new Map([...(setup.texts ?? []), ...texts]) };
  },
};

type SettingSource = Extract<Source, { kind: "setting" }>;

/** What a layer says now. If the model has its own setting for it, that is sent instead. */
function contentFor(
  { agent, reasoning }: TurnSetup,
  { source: { setting: name, texts }, scope }: { readonly source: SettingSource; readonly scope: Layer["scope"] },
  settings: readonly ThreadSetting[],
): LayerContent {
  const declared = agent.settings?.[name];
  const set = settings.find((one) => one.name === name);
  const value = set?.value ?? declared?.default;
  if (declared === undefined || value === undefined) return { kind: "empty", because: `${name} is not set` };
  if (declared.sets === "reasoning" && reasoning !== undefined)
    return { kind: "empty", because: `${name} is ${value}: the model's own setting says so` };
  // Law 4: the end of a request holds no value that a person wrote, only a text of the declaration.
  if (scope === "turn" && declared.choices === undefined) return { kind: "empty", because: `${name} is no choice` };
  // The operator wrote the texts; a free value was accepted only from operators and members.
  const text = declared.choices === undefined ? trusted(value) : texts[value];
  if (text === undefined) return { kind: "empty", because: `${name} is ${value}, for which it says nothing` };
  if (set === undefined) return { kind: "text", text };
  const spoken = declared.choices === undefined ? lowestTrust(["operator", trustOf({ role: set.by })]) : undefined;
  return { kind: "text", text, version: set.n, ...(spoken && { trust: spoken }) };
}

/** Shares of the reply's tokens, for a model that takes a budget. */
const SHARES = { low: 1 / 4, medium: 1 / 2, high: 3 / 4 } as const;

/** No provider takes a smaller budget. */
const LEAST_BUDGET = 1_024;

/** How much the model is asked to reason: undefined if no setting says so, or the model has no setting for it. */
function reasoningFor(setup: TurnSetup, settings: readonly ThreadSetting[]): Parameters["reasoning"] | undefined {
  const { agent, card } = setup;
  const [name, declared] = Object.entries(agent.settings ?? {}).find(([, { sets }]) => sets === "reasoning") ?? [];
  const value = settings.find((one) => one.name === name)?.value ?? declared?.default;
  const level = REASONING_LEVELS.find((one) => one === value);
  if (level === undefined || card.reasoning === undefined) return undefined;
  if (card.reasoning === "effort" || level === "off") return { level };
  const { maxTokens } = parametersOf(setup);
  // A reply too short for both would have no room for text: the layer's text says it instead.
  if (maxTokens < 2 * LEAST_BUDGET) return undefined;
  return { level, tokens: Math.max(LEAST_BUDGET, Math.floor(maxTokens * SHARES[level])) };
}

/** What doors call. */
export function settingApi(parts: Parts): SettingApi {
  return {
    settings: (actor, id) => readSettings(parts, actor, id),
    setSetting: async (actor, id, { name, value: given }) => {
      const thread = await threadOf(parts, actor, id);
      const agent = await agentAt(parts, await upToDate(parts, thread));
      const { declared, change } = checkChange(parts, actor, { agent, name, value: given });
      return toSettingView(name, declared, await parts.store.part(SETTING_STORE).setSetting(thread.scope, id, change));
    },
  };
}

/**
 * Settings that are set of a thread in the transaction that stores a message there; all are checked first.
 * @throws StrataError `invalid_input`, `not_allowed`
 */
export function settingChanges(
  parts: Parts,
  actor: Allowed<"post">,
  agent: Agent,
  wanted: Readonly<Record<string, string | null>>,
): AlsoStored {
  const changes = Object.entries(wanted).map(
    ([name, value]) => checkChange(parts, actor, { agent, name, value }).change,
  );
  return async (tx, scope, thread) => {
    await inOrder(changes, (change) => setSetting(tx, scope, thread, change));
  };
}

function checkChange(
  { clock }: Parts,
  actor: Allowed<"post">,
  { agent, name, value: given }: { readonly agent: Agent; readonly name: string; readonly value: string | null },
): { readonly declared: DeclaredSetting; readonly change: SettingChange } {
  const value = given === null ? null : given.replace(/\r\n?/g, "\n").trimEnd();
  const declared = Object.hasOwn(agent.settings ?? {}, name) ? agent.settings?.[name] : undefined;
  if (declared === undefined || (actor.role === "contact" && !maySet(actor, declared)))
    throw unknownSetting(agent, name);
  if (!maySet(actor, declared)) allow(actor, "operate");
  if (value !== null) checkValue(name, declared, value);
  return { declared, change: { name, value, ...doneBy(actor), at: clock.recorded() } };
}

async function readSettings(parts: Parts, actor: Allowed<"view">, id: ThreadId): Promise<readonly SettingView[]> {
  const thread = await threadOf(parts, actor, id);
  const agent = await agentAt(parts, await upToDate(parts, thread));
  const known = await parts.store.part(SETTING_STORE).settings(thread.scope, id);
  return declaredSettings(agent, known);
}

/** All settings that the agent declares, with their values. */
export const declaredSettings = (
  { settings: declared = {} }: Agent,
  known: readonly ThreadSetting[] = [],
): readonly SettingView[] =>
  Object.entries(declared).map(([name, one]) =>
    toSettingView(
      name,
      one,
      known.find((setting) => setting.name === name),
    ),
  );

function toSettingView(
  name: string,
  { choices, maxLength, default: usual, description, sets }: DeclaredSetting,
  set?: ThreadSetting,
): SettingView {
  const value = set?.value ?? usual ?? null;
  return {
    name,
    value,
    ...(set && { by: set.by, ...(set.byId !== undefined && { byId: set.byId }), at: set.at }),
    ...(choices && { choices }),
    ...(maxLength !== undefined && { maxLength }),
    ...(description !== undefined && { description }),
    ...(sets && { sets }),
  };
}

const OPERATORS: readonly Actor["role"][] = ["platform", "operator"];
const SETTERS: Readonly<Record<NonNullable<DeclaredSetting["settableBy"]>, readonly Actor["role"][]>> = {
  operators: OPERATORS,
  members: [...OPERATORS, "member"],
  contacts: [...OPERATORS, "member", "contact"],
};

const maySet = ({ role }: Actor, { settableBy = "operators" }: DeclaredSetting): boolean =>
  SETTERS[settableBy].includes(role);

function unknownSetting({ name: agent, settings: declared = {} }: Agent, name: string): StrataError {
  const known = Object.keys(declared);
  const message = known.length === 0 ? `; strata.yaml declares none under its \`settings\`` : suggestion(name, known);
  return new StrataError("invalid_input", `${agent} has no setting ${JSON.stringify(name)}${message}`, {
    agent,
    setting: name,
  });
}

function checkValue(name: string, { choices, maxLength }: DeclaredSetting, value: string): void {
  if (choices !== undefined && !choices.includes(value)) {
    const message = `${name} cannot be ${JSON.stringify(value)}: it is one of ${choices.join(", ")}`;
    throw new StrataError("invalid_input", message, { setting: name, choices });
  }
  const problem = maxLength === undefined ? undefined : formProblem(value);
  if (problem !== undefined) throw new StrataError("invalid_input", `${name}: ${problem}`, { setting: name });
  if (maxLength !== undefined && value.length > maxLength) {
    const message = `${name} has room for ${maxLength} characters, and ${value.length} were given; shorten it`;
    throw new StrataError("invalid_input", message, { setting: name, maxLength });
  }
}
