import type { z } from "zod";
import { type Action, type StoredEvent, StrataError, type TurnEvent } from "../protocol/index.ts";
import {
  admitted,
  base,
  type Call,
  type Declared,
  type Lines,
  type OperationContext,
  type Printing,
  type RunAnswer,
  type RunEvent,
  type RunOperation,
  type RunValue,
} from "./operation.ts";

/**
 * An operation whose value is known at the end, and whose events come before it. The operation does not know who listens: a door
 * passes the events on or waits for the value.
 */
interface RunSpec<
  In extends z.ZodObject,
  Out extends z.ZodType,
  Value extends z.input<Out> & RunValue,
  May extends Action,
> extends Declared<In, May> {
  readonly gives: Out;
  /**
   * The message is stored before anything is yielded, so that a door can still answer with an error's own status. A turn that fails is
   * yielded as `failed`, and then thrown.
   */
  readonly run: (
    context: OperationContext,
    given: z.output<In>,
    call: Call<May>,
  ) => AsyncGenerator<RunEvent, Value & RunValue>;
  /** After this many seconds a door answers with `soFar`, and the run goes on. Without it the door waits for the end. */
  readonly seconds: (given: z.output<In>) => number | undefined;
  readonly soFar: (received: StoredEvent) => Value & RunValue;
  /** What people read after the events. */
  readonly show: (value: Value, printing: Printing<z.output<In>, May>) => Lines;
}

/** Declares an operation whose value is known at the end. */
export function runOperation<
  In extends z.ZodObject,
  Out extends z.ZodType,
  Value extends z.input<Out> & RunValue,
  May extends Action,
>(spec: RunSpec<In, Out, Value, May>): RunOperation {
  return {
    ...base(spec),
    kind: "run",
    gives: spec.gives,
    run: (context, raw, asked) => {
      const { call, given } = admitted(spec, raw, asked);
      const answer = (value: Value & RunValue): RunAnswer => ({
        value,
        lines: (page) => spec.show(value, { ...page, given, world: context, call }),
      });
      async function* events(signal: AbortSignal): AsyncGenerator<RunEvent, RunAnswer> {
        return answer(yield* spec.run(context, given, { ...call, signal }));
      }
      return { events, seconds: spec.seconds(given), soFar: (received) => answer(spec.soFar(received)) };
    },
  };
}

/** The error of a failed turn, with the turn, so that a client can look at the record. */
export function failureOf({ turn, error }: Extract<TurnEvent, { type: "failed" }>): StrataError {
  return new StrataError(error.traits, error.message, { ...error.details, turn }, error);
}
