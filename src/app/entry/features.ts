import type { Feature, Listed, Operation, OperationAccess, OperationContext, ToolDeps } from "../../features/index.ts";
import { ERRORS, type ErrorTraits, type OwnChannel, StrataError, type Tool } from "../../protocol/index.ts";
import type { StorePart } from "../../store/index.ts";
import type { ToolFamily } from "../../turn/tools/index.ts";
import type { Job } from "../../work/index.ts";
import type { World } from "./runtime.ts";

/** The one list of what agents can have. A feature is loaded when something needs it. */
export const FEATURES: readonly Listed<World>[] = [
  {
    name: "agents",
    nouns: {
      agent: "list the declared agents, draw who may ask whom, show one in detail, what needs you, and who viewed it",
    },
    load: async () => (await import("../../features/agents/index.ts")).FEATURE,
  },
  {
    name: "approvals",
    nouns: {
      approval: "list the tool calls that wait for a person; approve, deny and resolve them",
      escalation: "list the questions that agents ask a person; answer, take and close them",
    },
    load: async () => (await import("../../features/approvals/index.ts")).FEATURE,
  },
  {
    name: "assistant",
    nouns: { assistant: "confirm and deny what a member's assistant wants to do" },
    load: async () => (await import("../../features/assistant/index.ts")).FEATURE,
  },
  {
    name: "blocks",
    nouns: { block: "list an agent's memory blocks, save and delete one, decide about changes that it wants" },
    load: async () => (await import("../../features/blocks/index.ts")).FEATURE,
  },
  {
    name: "calls",
    nouns: {},
    load: async () => (await import("../../features/calls/index.ts")).FEATURE,
  },
  {
    name: "cases",
    nouns: {},
    load: async () => (await import("../../features/cases/index.ts")).FEATURE,
  },
  {
    name: "contacts",
    nouns: { contact: "erase everything stored about a contact" },
    load: async () => (await import("../../features/contacts/index.ts")).FEATURE,
  },
  {
    name: "retractions",
    nouns: { event: "retract an event, with all that came from it" },
    load: async () => (await import("../../features/retractions/index.ts")).FEATURE,
  },
  {
    name: "logs",
    nouns: { log: "list the senders in an agent's log, and read one; each access is recorded" },
    load: async () => (await import("../../features/logs/index.ts")).FEATURE,
  },
  {
    name: "deliveries",
    nouns: { outbox: "list an agent's replies, and mark them as delivered; each access is recorded" },
    load: async () => (await import("../../features/deliveries/index.ts")).FEATURE,
  },
  {
    name: "settings",
    nouns: { setting: "list what is set of a conversation, such as the thinking level, and set it" },
    load: async () => (await import("../../features/settings/index.ts")).FEATURE,
  },
  {
    name: "defer",
    nouns: {},
    load: async () => (await import("../../features/defer/index.ts")).FEATURE,
  },
  {
    name: "results",
    nouns: {},
    load: async () => (await import("../../features/results/index.ts")).FEATURE,
  },
  {
    name: "fetch",
    nouns: {},
    load: async () => (await import("../../features/fetch/index.ts")).FEATURE,
  },
  {
    name: "files",
    nouns: { file: "list the files of an agent's prompt, and approve one that the guard holds back" },
    load: async () => (await import("../../features/files/index.ts")).FEATURE,
  },
  {
    name: "handlers",
    nouns: {},
    load: async () => (await import("../../features/handlers/index.ts")).FEATURE,
  },
  {
    name: "hooks",
    nouns: {},
    load: async () => (await import("../../features/hooks/index.ts")).FEATURE,
  },
  {
    name: "inbox",
    nouns: {
      inbox: "list the messages that wait for an agent, add one, and run a turn for them; each access is recorded",
    },
    load: async () => (await import("../../features/inbox/index.ts")).FEATURE,
  },
  {
    name: "keys",
    nouns: { key: "create, list and revoke the keys of the HTTP server" },
    load: async () => (await import("../../features/keys/index.ts")).FEATURE,
  },
  {
    name: "learning",
    nouns: {
      lesson: "list what edits, answers and failures taught an agent, show and dismiss one",
      learning: "list an agent's learning versions, approve, reject and roll back; digest lessons; show the edit rate",
    },
    load: async () => (await import("../../features/learning/index.ts")).FEATURE,
  },
  {
    name: "life",
    nouns: {
      life: "show the condition of an agent that lives by itself, and run a turn of its own",
      credits: "show an agent's credits, top them up, and list the payments",
    },
    load: async () => (await import("../../features/life/index.ts")).FEATURE,
  },
  {
    name: "limits",
    nouns: { limit: "list what is used and left of the limits of calls and money" },
    load: async () => (await import("../../features/limits/index.ts")).FEATURE,
  },
  {
    name: "memories",
    nouns: {
      memory: "list, show, save, search, explain, forget, import and export what an agent remembers about a contact",
    },
    load: async () => (await import("../../features/memories/index.ts")).FEATURE,
  },
  {
    name: "messages",
    nouns: {
      message: "send a message to an agent",
      ask: "send a message to an agent, and print the answer",
    },
    load: async () => (await import("../../features/messages/index.ts")).FEATURE,
  },
  {
    name: "organization",
    nouns: {
      organization: "show for whom an agent speaks, and whether it is open now",
      member: "list the people of the organization",
      line: "list the numbers and addresses to which contacts write",
    },
    load: async () => (await import("../../features/organization/index.ts")).FEATURE,
  },
  {
    name: "peers",
    nouns: {
      peer: "list whom each agent may ask, and what a peer takes",
      payload: "send a payload to the agent that takes its type",
    },
    load: async () => (await import("../../features/peers/index.ts")).FEATURE,
  },
  {
    name: "responses",
    nouns: {},
    load: async () => (await import("../../features/responses/index.ts")).FEATURE,
  },
  {
    name: "drafts",
    nouns: { draft: "list replies that wait for a person; approve, edit and discard them" },
    load: async () => (await import("../../features/drafts/index.ts")).FEATURE,
  },
  {
    name: "runtime",
    nouns: {},
    load: async () => (await import("../../features/runtime/index.ts")).FEATURE,
  },
  {
    name: "schedules",
    nouns: { schedule: "list what an agent does by the clock; run, pause and resume one" },
    load: async () => (await import("../../features/schedules/index.ts")).FEATURE,
  },
  {
    name: "skills",
    nouns: {},
    load: async () => (await import("../../features/skills/index.ts")).FEATURE,
  },
  {
    name: "subagents",
    nouns: { subagent: "list the sub-agents that an agent may call" },
    load: async () => (await import("../../features/subagents/index.ts")).FEATURE,
  },
  {
    name: "texts",
    nouns: {
      layer: "list, show and edit an agent's layers, compare their versions, decide about proposals",
      soul: "show and set an agent's short name for itself",
      skill: "list, show, change, enable and disable an agent's skills",
    },
    load: async () => (await import("../../features/texts/index.ts")).FEATURE,
  },
  {
    name: "threads",
    nouns: {
      thread: "list the conversations, read one, fork it, move it to the newest version, cancel its turn",
      export: "export conversations as JSON lines",
    },
    load: async () => (await import("../../features/threads/index.ts")).FEATURE,
  },
  {
    name: "turns",
    nouns: {
      explain: "explain a thread or a turn: each section, its cost, and whether it was sent",
      turn: "show a recorded turn (`strata turn ID` is `turn show ID`), compare two, or answer one again",
    },
    load: async () => (await import("../../features/turns/index.ts")).FEATURE,
  },
  {
    name: "usage",
    nouns: { usage: "add up tokens and dollars" },
    load: async () => (await import("../../features/usage/index.ts")).FEATURE,
  },
  {
    name: "workspace",
    nouns: {},
    load: async () => (await import("../../features/workspace/index.ts")).FEATURE,
  },
];

/** All of them, loaded. */
export const allFeatures = (): Promise<readonly Feature<World>[]> => Promise.all(FEATURES.map(({ load }) => load()));

/** Every kind of error, of the core and of all features, by its code. */
export const allErrors = async (): Promise<readonly (readonly [string, ErrorTraits])[]> => [
  ...Object.entries(ERRORS),
  ...(await allFeatures()).flatMap(({ errors = [] }) => errors.map((one) => [one.code, one] as const)),
];

export const errorCodes = async (): Promise<readonly string[]> => (await allErrors()).map(([code]) => code);

/** The operations of all features. */
export const allOperations = async (): Promise<readonly Operation[]> => {
  const features = await allFeatures();
  // Reading the list of features does not need the engine.
  const { columnsOf, givingColumns } = await import("../../features/index.ts");
  const columns = columnsOf(features);
  return features.flatMap(({ operations }) => operations.map((one) => givingColumns(one, columns)));
};

/** The same for tools that call them: `world` gives undefined if there is no runtime, or not yet. */
export const operationAccess = async (world: () => OperationContext | undefined): Promise<OperationAccess> => ({
  list: await allOperations(),
  world: () => {
    const now = world();
    if (now !== undefined) return now;
    throw new StrataError("unexpected", "an operation is asked for where no runtime is");
  },
});

/** The channels on which features open threads. */
export const allChannels = async (): Promise<readonly OwnChannel[]> =>
  (await allFeatures()).flatMap(({ channels = [] }) => channels);

/** The background jobs of all features. */
export const allJobs = async (): Promise<readonly Job[]> => (await allFeatures()).flatMap(({ jobs = [] }) => jobs);

/** The parts of the store of all features. */
export const allParts = async (): Promise<readonly StorePart[]> =>
  (await allFeatures()).flatMap(({ store }) => store ?? []);

/** The tools of all features. */
export const allTools = async (world: ToolDeps): Promise<readonly Tool[]> =>
  (await allFeatures()).flatMap(({ tools }) => tools?.(world) ?? []);

/** The tools that features make for each name. */
export const allToolFamilies = async (access?: OperationAccess): Promise<readonly ToolFamily[]> =>
  (await allFeatures()).flatMap(({ toolFamilies = [], operationTools }) => [
    ...toolFamilies,
    ...(access && operationTools ? [operationTools(access)] : []),
  ]);
