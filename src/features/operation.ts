import { z } from "zod";
import type { Style } from "../print/index.ts";
import {
  type Action,
  type Actor,
  type Agent,
  asStrataError,
  type ModelRef,
  type Request,
  type StrataError,
  type TurnEvent,
} from "../protocol/index.ts";
import type { Runtime } from "../turn/index.ts";
import { list } from "./fields.ts";
import { type Naming, parsed } from "./parse.ts";

/** A conversation, as the runtime gives it. */
export type Thread = Awaited<ReturnType<Runtime["thread"]>>;

/** What operations work with. */
export interface World {
  readonly runtime: Runtime;
  /** The name of the model that answers for an agent. */
  readonly modelNameOf: (agent: Agent) => ModelRef;
  /** The exact HTTP body of a request, as the provider's package sends it. */
  readonly bodyOf: (request: Request, wire: ModelRef) => Promise<string>;
  /** The time that is recorded with what happens now, milliseconds since 1970. */
  readonly clock: () => number;
}

/** Who asks, and how they are kept informed. */
export interface Call {
  readonly actor: Actor;
  /** Aborted when the work has to stop: the server ends, or somebody pressed Ctrl-C. */
  readonly signal: AbortSignal;
  /** Shows how far long work has come; `share` is from 0 to 1. */
  readonly progress: (text: string, share?: number) => void;
}

/** What was given, before it was parsed, and how its fields are called where it came from. */
export interface Given {
  readonly values: unknown;
  readonly naming: Naming;
}

/** Where an operation's lines are printed. */
export interface Printing<In> {
  readonly style: Style;
  readonly given: In;
  /** What names the agent in a further command: ` --agent NAME`, or nothing where it is the first one. */
  readonly agentWords: string;
}

/**
 * What a command opens: the record alone, which must be there, or with it all that a turn needs; or the record, made where there is
 * none, without or with what a turn needs.
 */
export type Opens = "record" | "record to run" | "data" | "everything";

/** How an operation looks on the command line. */
export interface CommandPart<Field extends string> {
  /** The fields that are given as words, in this order. Where there is an `agent`, it may follow as the last word. */
  readonly words?: readonly Field[];
  /** The field that takes all words that follow; the agent is named by its option alone then. */
  readonly rest?: Field;
  /** Options called otherwise than their field. `contact` is `--as` everywhere. */
  readonly names?: Readonly<Partial<Record<Field, string>>>;
  /** A text that is read from a file or, as `-`, from stdin: where it is one of the words, that names the file, else `--file` may. */
  readonly file?: Field;
  /** The field that takes the name of that file. */
  readonly fileName?: Field;
  /** What the ending of the file that is written says, as in `{ md: { format: "markdown" } }`. */
  readonly endings?: Readonly<Record<string, Readonly<Partial<Record<Field, string>>>>>;
  /** Where nobody is named it is the person at this machine; with `or own`, `--agent-own` stands for what belongs to the agent alone. */
  readonly contact?: "me" | "me or own";
  /** A word that may be left out, or be `-`: then it is what stands on stdin. */
  readonly stdin?: Field;
  /** What stands for fields that nobody names on the command line, where other doors ask for them. */
  readonly usual?: Readonly<Partial<Record<Field, string>>>;
  /** One command line each, without `strata`. */
  readonly examples: readonly string[];
  readonly opens: Opens;
  /** What would be gone for good: it is done with `--yes` only, else refused with this sentence. */
  readonly confirm?: string;
}

interface Declared<In extends z.ZodObject> {
  /** Noun and verb: `approval.list` is `strata approval list`, and `approval_list` for programs that speak MCP. */
  readonly name: `${string}.${string}`;
  /** What it does, for every door: `List …`. The first sentence stands in lists of commands. */
  readonly does: string;
  /** The action that the actor must be allowed in the scope it reaches. */
  readonly may: Action;
  /** The route; a name in braces is the field of that name. */
  readonly at: `${"GET" | "POST" | "DELETE"} /v1/${string}`;
  readonly takes: In;
  /** Left out where only programs have a use for it. */
  readonly command?: CommandPart<keyof z.input<In> & string>;
}

/** An operation that answers with a value. */
export interface ValueSpec<In extends z.ZodObject, Out extends z.ZodType, Value extends z.input<Out>>
  extends Declared<In> {
  readonly gives: Out;
  /** The one field of the answer that `--json` prints, where the answer is a list. */
  readonly list?: keyof z.input<Out> & string;
  readonly run: (world: World, given: z.output<In>, call: Call) => Promise<Value>;
  /** What people read. */
  readonly show: (value: Value, printing: Printing<z.output<In>>) => readonly string[];
  /** What may be done next: beside the result, not a part of it. */
  readonly hints?: (value: Value, printing: Printing<z.output<In>>) => readonly string[];
  /** What could not be done, while the rest was: told beside the result, and a command ends with the first one's code. */
  readonly faults?: (value: Value, printing: Printing<z.output<In>>) => readonly StrataError[];
  /** A turn that follows at once where somebody watches: a command runs it, over HTTP what it would answer waits. */
  readonly follows?: (world: World, value: Value, call: Call) => AsyncIterable<TurnEvent>;
}

/** An operation that does one thing after the other. What was done before one of them failed stays, and a command tells it. */
export interface SeriesSpec<In extends z.ZodObject, Out extends z.ZodType, Value extends z.input<Out>>
  extends Declared<In> {
  /** What comes of each. */
  readonly gives: Out;
  /** The field of the answer that holds them. */
  readonly list: string;
  readonly run: (world: World, given: z.output<In>, call: Call) => AsyncIterable<Value>;
  readonly each: (value: Value, printing: Printing<z.output<In>>) => readonly string[];
  /** What people read behind them where nothing failed. */
  readonly end?: (values: readonly Value[], printing: Printing<z.output<In>>) => readonly string[];
}

/** An operation that runs a turn. Over HTTP it answers with the turn's end, or with its events as they come. */
export interface TurnSpec<In extends z.ZodObject> extends Declared<In> {
  readonly turn: (world: World, given: z.output<In>, call: Call) => AsyncIterable<TurnEvent>;
  /** What is said where there was nothing to run for. */
  readonly idle: (given: z.output<In>) => string;
}

/** An operation that answers with a file. */
export interface FileSpec<In extends z.ZodObject> extends Declared<In> {
  /** The media types it may have. */
  readonly types: readonly string[];
  readonly write: (world: World, given: z.output<In>, call: Call) => Promise<Written>;
}

/** A file as it is written, piece by piece. */
export interface Written {
  readonly type: string;
  readonly text: Iterable<string> | AsyncIterable<string>;
  /** What is said when it is in the file of that name. */
  readonly told: (file: string) => string;
}

/** A value as the doors pass it on. */
export interface Answer {
  readonly value: unknown;
  /** As `--json` prints it. */
  readonly json: unknown;
  readonly lines: (at: Omit<Printing<unknown>, "given">) => readonly string[];
  readonly hints: (at: Omit<Printing<unknown>, "given">) => readonly string[];
  readonly faults: (at: Omit<Printing<unknown>, "given">) => readonly StrataError[];
  /** Why a series ended early: the answer holds what was done before. */
  readonly failed?: StrataError;
  readonly follows?: () => AsyncIterable<TurnEvent>;
}

/** A turn as the doors pass it on. */
export interface RunningTurn {
  readonly events: AsyncIterable<TurnEvent>;
  /** What is said where there were none. */
  readonly idle: string;
}

/** What every door needs to know of an operation. */
export interface OperationBase {
  readonly name: string;
  readonly does: string;
  readonly may: Action;
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it: `/v1/approvals/{id}`. */
  readonly path: string;
  readonly takes: z.ZodObject;
  readonly command: CommandPart<string> | undefined;
}

/** One thing that people and programs may do, said once: each door makes its own form of it. */
export type Operation =
  | (OperationBase & {
      /** A series may take long, and ends where nobody waits for it any more. */
      readonly kind: "value" | "series";
      readonly gives: z.ZodType;
      readonly run: (world: World, given: Given, call: Call) => Promise<Answer>;
    })
  | (OperationBase & {
      readonly kind: "turn";
      readonly run: (world: World, given: Given, call: Call) => RunningTurn;
    })
  | (OperationBase & {
      readonly kind: "file";
      readonly types: readonly string[];
      readonly run: (world: World, given: Given, call: Call) => Promise<Written>;
    });

/** Declares an operation that answers with a value. */
export function operation<In extends z.ZodObject, Out extends z.ZodType, Value extends z.input<Out>>(
  spec: ValueSpec<In, Out, Value>,
): Operation {
  return {
    ...base(spec),
    kind: "value",
    gives: spec.gives,
    run: async (world, raw, call) => {
      const given = parsed(spec.takes, raw.values, raw.naming);
      const value = await spec.run(world, given, call);
      const { follows } = spec;
      return {
        value,
        json: spec.list === undefined ? value : Reflect.get(Object(value), spec.list),
        lines: (at) => spec.show(value, { ...at, given }),
        hints: (at) => spec.hints?.(value, { ...at, given }) ?? [],
        faults: (at) => spec.faults?.(value, { ...at, given }) ?? [],
        ...(follows && { follows: () => follows(world, value, call) }),
      };
    },
  };
}

/** Declares an operation that does one thing after the other. */
export function seriesOperation<In extends z.ZodObject, Out extends z.ZodType, Value extends z.input<Out>>(
  spec: SeriesSpec<In, Out, Value>,
): Operation {
  return {
    ...base(spec),
    kind: "series",
    gives: z.object({ [spec.list]: list(spec.gives) }),
    run: async (world, raw, call) => {
      const given = parsed(spec.takes, raw.values, raw.naming);
      const { values, failed } = await asFarAsItCame(spec.run(world, given, call));
      const each = (at: Omit<Printing<unknown>, "given">) => values.flatMap((one) => spec.each(one, { ...at, given }));
      return {
        value: { [spec.list]: values },
        json: values,
        lines: (at) => [...each(at), ...(failed ? [] : (spec.end?.(values, { ...at, given }) ?? []))],
        hints: () => [],
        faults: () => [],
        ...(failed && { failed }),
      };
    },
  };
}

/** @throws what failed where nothing was done before */
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
export function turnOperation<In extends z.ZodObject>(spec: TurnSpec<In>): Operation {
  return {
    ...base(spec),
    kind: "turn",
    run: (world, raw, call) => {
      const given = parsed(spec.takes, raw.values, raw.naming);
      return { events: spec.turn(world, given, call), idle: spec.idle(given) };
    },
  };
}

/** Declares an operation that answers with a file. */
export function fileOperation<In extends z.ZodObject>(spec: FileSpec<In>): Operation {
  return {
    ...base(spec),
    kind: "file",
    types: spec.types,
    run: async (world, raw, call) => spec.write(world, parsed(spec.takes, raw.values, raw.naming), call),
  };
}

function base<In extends z.ZodObject>({ name, does, may, at, takes, command }: Declared<In>): OperationBase {
  const [method = "", path = ""] = at.split(" ");
  return { name, does, may, method: methodOf(method), path, takes, command };
}

function methodOf(word: string): OperationBase["method"] {
  if (word === "POST") return "post";
  return word === "DELETE" ? "delete" : "get";
}

/** The fields of an operation that stand in its path. */
export const pathFields = ({ path }: Pick<OperationBase, "path">): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
