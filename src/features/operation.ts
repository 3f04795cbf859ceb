import { z } from "zod";
import type { Style } from "../print/index.ts";
import {
  type Action,
  type Actor,
  type Agent,
  type AgentName,
  type Allowed,
  allow,
  asStrataError,
  type Clock,
  type CountTokens,
  type Model,
  type ModelRef,
  type Request,
  type StoredEvent,
  type StrataError,
  type TurnEvent,
} from "../protocol/index.ts";
import type { Runtime } from "../turn/index.ts";
import type { CommandPart } from "./command-part.ts";
import { given, list } from "./fields.ts";
import { type Naming, parsed } from "./parse.ts";

/** A conversation, as the runtime gives it. */
export type Thread = Awaited<ReturnType<Runtime["thread"]>>;

/** A turn as recorded. */
export type TurnRecord = Awaited<ReturnType<Runtime["turn"]>>;

/** What operations work with. */
export interface OperationContext {
  readonly runtime: Runtime;
  /** The name of the model that answers for an agent. */
  readonly modelNameOf: (agent: Agent) => ModelRef;
  /** The same with the reason: which variable, key of strata.yaml or option of the program decided. */
  readonly modelChoiceOf: (agent: Agent) => { readonly ref: ModelRef; readonly because: string };
  /** The model that answers for an agent, opened as a turn would open it. */
  readonly modelOf: (agent: Agent) => Promise<Model>;
  /** What is known about a model: whether it has a price. */
  readonly cardOf: (model: ModelRef) => { readonly priced: boolean };
  /** Says that a model's window is a guess, and which key sets it; undefined if it is known. */
  readonly guessedWindow: (model: ModelRef) => string | undefined;
  /** Counts tokens as a turn of the agent would. */
  readonly counterOf: (agent: Agent) => Promise<CountTokens>;
  /** The files that declare agents. */
  readonly projects: readonly { readonly file?: string; readonly agents: ReadonlyMap<AgentName, Agent> }[];
  /** The exact HTTP body of a request, as the provider's package sends it. */
  readonly bodyOf: (request: Request, wire: ModelRef) => Promise<string>;
  readonly clock: Clock;
}

/** A call as a door makes it: the actor's rights have not been checked yet. */
export interface DoorCall {
  readonly actor: Actor;
  /** Aborted when the work must stop: the server ends, or the user pressed Ctrl-C. */
  readonly signal: AbortSignal;
  /** Shows how far long work has come; `share` is from 0 to 1. */
  readonly progress: (text: string, share?: number | "planned") => void;
}

/** The actor of a call, and how it is kept informed. */
export interface Call<May extends Action> extends DoorCall {
  /** Its role may perform the operation. */
  readonly actor: Allowed<May>;
}

/** The input before parsing, and the names of its fields at the door it came through. */
export interface RawInput {
  readonly values: unknown;
  readonly naming: Naming;
}

/** How lines are printed at a door. */
export interface Page {
  readonly style: Style;
  /** Names the agent in a further command: ` --agent NAME`, or empty for the first one. */
  readonly agentWords: string;
}

/** Where an operation's lines are printed, and what they may look up. */
export interface Printing<In, May extends Action> extends Page {
  readonly given: In;
  readonly world: OperationContext;
  readonly call: Call<May>;
}

export type Lines = readonly string[] | Promise<readonly string[]>;

export interface Declared<In extends z.ZodObject, May extends Action> {
  /**
   * Noun and verb: `approval.list` is `strata approval list`, and `approval_list` for programs that speak MCP. A single word is a command:
   * `usage` is `strata usage`.
   */
  readonly name: string;
  /** What it does, for every door: `List …`. Lists of commands show the first sentence. */
  readonly does: string;
  /** What the actor's role must allow, checked before anything is parsed. The functions check whose data it is. */
  readonly may: May;
  /** The route; a name in braces is the field of that name. Left out for what concerns the files and all the data of this machine. */
  readonly at?: `${"GET" | "POST" | "DELETE"} /v1/${string}`;
  readonly takes: In;
  /** Absent if only programs need it. */
  readonly command?: CommandPart<keyof z.input<In> & string>;
}

/** An operation that answers with a value. */
interface ValueSpec<In extends z.ZodObject, Out extends z.ZodType, Value extends z.input<Out>, May extends Action>
  extends Declared<In, May> {
  readonly gives: Out;
  /** The one field of the answer that `--json` prints, if the answer has that list. */
  readonly list?: keyof z.input<Out> & string;
  /** Features add fields to each row of that list, or to the answer itself: `run` reads them with `withColumns`. */
  readonly columns?: "threads" | "turns";
  readonly run: (world: OperationContext, given: z.output<In>, call: Call<May>) => Promise<Value>;
  /** What people read. */
  readonly show: (value: Value, printing: Printing<z.output<In>, May>) => Lines;
  /** Suggested next steps: beside the result, not part of it. */
  readonly hints?: (value: Value, printing: Printing<z.output<In>, May>) => readonly string[];
  /** Partial failures, reported beside the result; a command exits with the first one's code. */
  readonly faults?: (value: Value, printing: Printing<z.output<In>, May>) => readonly StrataError[];
  /** A turn that follows at once if the caller watches: a command runs it; over HTTP, what it would answer waits. */
  readonly follows?: (world: OperationContext, value: Value, call: Call<May>) => AsyncIterable<TurnEvent>;
}

/** An operation that does one thing after the other. What was done before a failure stays, and a command reports it. */
interface SeriesSpec<In extends z.ZodObject, Out extends z.ZodType, Value extends z.input<Out>, May extends Action>
  extends Declared<In, May> {
  /** The result of each. */
  readonly gives: Out;
  /** The field of the answer that holds them. */
  readonly list: string;
  readonly run: (world: OperationContext, given: z.output<In>, call: Call<May>) => AsyncIterable<Value>;
  readonly each: (value: Value, printing: Printing<z.output<In>, May>) => readonly string[];
  /** What people read after them if nothing failed. */
  readonly end?: (values: readonly Value[], printing: Printing<z.output<In>, May>) => readonly string[];
}

/** An operation that runs a turn. Over HTTP it answers with the turn's end, or with its events as they come. */
interface TurnSpec<In extends z.ZodObject, May extends Action> extends Declared<In, May> {
  readonly turn: (world: OperationContext, given: z.output<In>, call: Call<May>) => AsyncIterable<TurnEvent>;
  /** The sentence if there was nothing to run for. */
  readonly idle: (given: z.output<In>) => string;
  /** What people read before it begins. */
  readonly before?: (printing: Printing<z.output<In>, May>) => Lines;
  /** What people read when it has begun, in place of whose turn it is. */
  readonly begun?: (event: TurnStart) => readonly string[];
  /** Suggested next steps. */
  readonly hints?: (event: TurnStart, printing: Printing<z.output<In>, May>) => Lines;
}

/** A turn's first event. */
export type TurnStart = Extract<TurnEvent, { type: "turn-start" }>;

/** An operation that answers with a file. */
interface FileSpec<In extends z.ZodObject, May extends Action> extends Declared<In, May> {
  /** The media types it may have. */
  readonly types: readonly string[];
  readonly write: (world: OperationContext, given: z.output<In>, call: Call<May>) => Promise<Written>;
}

/** A file, written piece by piece. */
export interface Written {
  readonly type: string;
  readonly text: Iterable<string> | AsyncIterable<string>;
  /** Lines for people once all of it was written: to the file of that name, or to stdout. */
  readonly summary: (file: string | undefined) => readonly string[];
}

/** A value as the doors pass it on. */
export interface Answer {
  readonly value: unknown;
  /** As `--json` prints it. */
  readonly json: unknown;
  readonly lines: (page: Page) => Lines;
  /** Where a list continues if it may have more than this page. */
  readonly next?: string;
  readonly hints: (page: Page) => readonly string[];
  readonly faults: (page: Page) => readonly StrataError[];
  /** Why a series ended early: the answer holds what was done before. */
  readonly failed?: StrataError;
  readonly follows?: () => AsyncIterable<TurnEvent>;
}

/** A turn as the doors pass it on. */
export interface RunningTurn {
  readonly events: AsyncIterable<TurnEvent>;
  /** The sentence if there were none. */
  readonly idle: string;
  readonly before: (page: Page) => Lines;
  readonly begun: ((event: TurnStart) => readonly string[]) | undefined;
  readonly hints: (event: TurnStart, page: Page) => Lines;
}

/** A route as OpenAPI writes it: `get` and `/v1/approvals/{id}`. */
export interface At {
  readonly method: "get" | "post" | "delete";
  readonly path: string;
}

/** What every door needs to know of an operation. */
export interface OperationBase {
  readonly name: string;
  readonly does: string;
  readonly may: Action;
  /** Undefined if it is done on this machine only. */
  readonly at: At | undefined;
  readonly takes: z.ZodObject;
  readonly command: CommandPart<string> | undefined;
}

/** What precedes the value of a run: the message as stored, `busy` once if another turn has to end first, then the events of its turns. */
export type RunEvent =
  /** `place`: that of its turn in the program's queue, if it has to wait there; 1 is the next. */
  | { readonly type: "received"; readonly event: StoredEvent; readonly place?: number }
  | { readonly type: "busy" }
  | TurnEvent;

/** The state of a run. */
export const RUN_STATES = ["queued", "running", "waiting", "done"] as const;

export interface RunValue {
  readonly state: (typeof RUN_STATES)[number];
}

/** The value of a run, as the doors pass it on. */
export interface RunAnswer {
  readonly value: RunValue;
  readonly lines: (page: Page) => Lines;
}

/** A run as the doors pass it on. */
export interface Run {
  /** Begins it; aborting the signal stops it. */
  readonly events: (signal: AbortSignal) => AsyncGenerator<RunEvent, RunAnswer>;
  readonly seconds: number | undefined;
  readonly soFar: (received: StoredEvent) => RunAnswer;
}

export interface RunOperation extends OperationBase {
  readonly kind: "run";
  readonly gives: z.ZodType;
  readonly run: (context: OperationContext, given: RawInput, call: DoorCall) => Run;
}

/** One thing that people and programs may do, said once: each door makes its own form of it. */
export type Operation =
  | RunOperation
  | (OperationBase & {
      /** A series may take long, and ends once the caller has gone. */
      readonly kind: "value" | "series";
      readonly gives: z.ZodType;
      readonly list?: string;
      readonly columns?: "threads" | "turns";
      readonly run: (world: OperationContext, given: RawInput, call: DoorCall) => Promise<Answer>;
    })
  | (OperationBase & {
      readonly kind: "turn";
      readonly run: (world: OperationContext, given: RawInput, call: DoorCall) => RunningTurn;
    })
  | (OperationBase & {
      readonly kind: "file";
      readonly types: readonly string[];
      readonly run: (world: OperationContext, given: RawInput, call: DoorCall) => Promise<Written>;
    });

/** Declares an operation that answers with a value. */
export function operation<
  In extends z.ZodObject,
  Out extends z.ZodType,
  Value extends z.input<Out>,
  const May extends Action,
>(spec: ValueSpec<In, Out, Value, May>): Operation {
  return {
    ...base(spec),
    kind: "value",
    gives: spec.gives,
    ...given("list", spec.list),
    ...given("columns", spec.columns),
    run: async (world, raw, asked) => {
      const { call, given } = admitted(spec, raw, asked);
      const value = await spec.run(world, given, call);
      const { follows } = spec;
      return {
        value,
        json: (spec.list && Reflect.get(Object(value), spec.list)) ?? value,
        ...nextOf(value),
        lines: (page) => spec.show(value, { ...page, given, world, call }),
        hints: (page) => spec.hints?.(value, { ...page, given, world, call }) ?? [],
        faults: (page) => spec.faults?.(value, { ...page, given, world, call }) ?? [],
        ...(follows && { follows: () => follows(world, value, call) }),
      };
    },
  };
}

function nextOf(value: unknown): Pick<Answer, "next"> {
  const next: unknown = Reflect.get(Object(value), "next");
  return typeof next === "string" ? { next } : {};
}

/** Declares an operation that does one thing after the other. */
export function seriesOperation<
  In extends z.ZodObject,
  Out extends z.ZodType,
  Value extends z.input<Out>,
  const May extends Action,
>(spec: SeriesSpec<In, Out, Value, May>): Operation {
  return {
    ...base(spec),
    kind: "series",
    gives: z.object({ [spec.list]: list(spec.gives) }),
    run: async (world, raw, asked) => {
      const { call, given } = admitted(spec, raw, asked);
      const { values, failed } = await asFarAsItCame(spec.run(world, given, call));
      const printing = (page: Page) => ({ ...page, given, world, call });
      const each = (page: Page) => values.flatMap((one) => spec.each(one, printing(page)));
      return {
        value: { [spec.list]: values },
        json: values,
        lines: (page) => [...each(page), ...(failed ? [] : (spec.end?.(values, printing(page)) ?? []))],
        hints: () => [],
        faults: () => [],
        ...(failed && { failed }),
      };
    },
  };
}

/** @throws the failure if nothing was done before it */
async function asFarAsItCame<T>(work: AsyncIterable<T>) {
  const values: T[] = [];
  try {
    for await (const one of work) values.push(one);
  } catch (thrown) {
    if (values.length === 0) throw thrown;
    return { values, failed: asStrataError(thrown) };
  }
  return { values };
}

/** Declares an operation that runs a turn. */
export function turnOperation<In extends z.ZodObject, const May extends Action>(spec: TurnSpec<In, May>): Operation {
  return {
    ...base(spec),
    kind: "turn",
    run: (world, raw, asked) => {
      const { call, given } = admitted(spec, raw, asked);
      return {
        events: spec.turn(world, given, call),
        idle: spec.idle(given),
        before: (page) => spec.before?.({ ...page, given, world, call }) ?? [],
        begun: spec.begun,
        hints: (event, page) => spec.hints?.(event, { ...page, given, world, call }) ?? [],
      };
    },
  };
}

/** Declares an operation that answers with a file. */
export function fileOperation<In extends z.ZodObject, const May extends Action>(spec: FileSpec<In, May>): Operation {
  return {
    ...base(spec),
    kind: "file",
    types: spec.types,
    run: async (world, raw, asked) => {
      const { call, given } = admitted(spec, raw, asked);
      return spec.write(world, given, call);
    },
  };
}

/** The role is checked before the input is parsed, so that a refused actor learns nothing about its form. */
export function admitted<In extends z.ZodObject, May extends Action>(
  { may, takes }: Pick<Declared<In, May>, "may" | "takes">,
  { values, naming }: RawInput,
  asked: DoorCall,
): { readonly call: Call<May>; readonly given: z.output<In> } {
  const call = { ...asked, actor: allow(asked.actor, may) };
  return { call, given: parsed(takes, values, naming) };
}

export function base<In extends z.ZodObject, May extends Action>(declared: Declared<In, May>): OperationBase {
  const { name, does, may, at, takes, command } = declared;
  const [method = "", path = ""] = at?.split(" ") ?? [];
  return { name, does, may, at: at && { method: methodOf(method), path }, takes, command };
}

function methodOf(word: string): At["method"] {
  if (word === "POST") return "post";
  return word === "DELETE" ? "delete" : "get";
}

/** The fields in a route's path. */
export const pathFields = ({ path }: Pick<At, "path">): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
