import type { z } from "zod";
import { type CommitReport, type StoreWrite, StrataError, type Trust } from "../protocol/index.ts";
import type { Tx, WriteAt, WriteKind, Writes } from "./tx.ts";

/** Makes and reads writes of one kind. */
export interface WriteToken<Write extends StoreWrite> extends WriteKind {
  readonly plan: (write: Omit<Write, "kind">) => StoreWrite;
  /** The write, parsed again; undefined for one of another kind. */
  readonly read: (write: StoreWrite) => Write | undefined;
}

interface WriteSpec<Write extends StoreWrite> extends Pick<WriteKind, "newId" | "forTools" | "forgets"> {
  readonly kind: Write["kind"];
  /** Writes are kept in the journal as JSON and may be older than this program. */
  readonly schema: z.ZodType<Write>;
  /** Law 6. If omitted, the write has no trust of its own. */
  readonly limited?: (write: Write, most: readonly Trust[]) => Write;
  /** Left out: it has no texts. */
  readonly hidden?: (write: Write, hide: (text: string) => string) => Write;
  readonly apply: (tx: Tx, write: Write, at: WriteAt) => Promise<readonly CommitReport[]>;
}

/** Writes that a token has planned, as opposed to objects that only look like them. */
const planned = new WeakSet<StoreWrite>();

/** A kind of write: what tools plan, the journal keeps and the commit does. Its feature lists it in `writes` of its part of the store. */
export function writeKind<Write extends StoreWrite>(spec: WriteSpec<Write>): WriteToken<Write> {
  const { kind, schema, limited = (write) => write, hidden = (write) => write, apply, newId, forTools, forgets } = spec;
  const parsed = (write: unknown): Write => {
    const { data, error } = schema.safeParse(write);
    if (data !== undefined) return data;
    const where = error?.issues[0]?.path.join(".");
    throw new StrataError(
      "invalid_input",
      `a planned write \`${kind}\` cannot be read at ${where}; nothing was written`,
      {
        kind,
      },
    );
  };
  return {
    kind,
    ...(newId && { newId }),
    ...(forTools && { forTools }),
    ...(forgets && { forgets }),
    plan: (write) => {
      const one = parsed({ kind, ...write });
      planned.add(one);
      return one;
    },
    read: (write) => (write.kind === kind ? parsed(write) : undefined),
    limited: (write, most) => limited(parsed(write), most),
    hidden: (write, hide) => hidden(parsed(write), hide),
    apply: (tx, write, at) => apply(tx, parsed(write), at),
  };
}

/** All kinds of writes that a store can do, for whoever runs tools. */
export function writesOf(kinds: readonly WriteKind[]): Writes {
  const of: Writes["of"] = ({ kind }) => {
    const known = kinds.find((one) => one.kind === kind);
    if (known !== undefined) return known;
    const message = `no feature of this program keeps writes of the kind ${JSON.stringify(kind)}; start it with the features that the turn began with`;
    throw new StrataError("unexpected", message, { kind });
  };
  return {
    kinds,
    of,
    isPlanned: (write) => planned.has(write),
    withIds: (writes, at, random) =>
      writes.map((write) => {
        const id = of(write).newId?.(at, random);
        return { ...(id !== undefined && { id }), write };
      }),
  };
}
