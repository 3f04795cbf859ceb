import { type Agent, type Json, type Tool, type ToolContext, type ToolOutcome, untrusted } from "../protocol/index.ts";
import type { Parts } from "./parts.ts";

/** How far an agent may go with a tool in one turn: the stricter of what the tool and the declaration say. No limit is `Infinity`. */
export function limitsOf({ rules = [] }: Agent, tool: Tool): { readonly calls: number; readonly seconds: number } {
  const rule = rules.find((one) => one.tool === tool.schema.name);
  const stricter = (key: "calls" | "seconds"): number =>
    Math.min(rule?.[key] ?? Number.POSITIVE_INFINITY, tool.limits?.[key] ?? Number.POSITIVE_INFINITY);
  return { calls: stricter("calls"), seconds: stricter("seconds") };
}

/** What a run is given, and what ends it. */
export interface Running {
  readonly context: Omit<ToolContext, "signal" | "secret">;
  /** `Infinity` for no limit. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a tool on checked input. What it throws becomes an answer that says so, and so does the end of its time; a tool that is
 * deaf to its signal is left behind. Values of secrets are replaced by their names in all that it says.
 */
export async function runTool(
  { vault }: Parts,
  tool: Tool,
  input: Json,
  { context, seconds, signal }: Running,
): Promise<ToolOutcome> {
  const late = Number.isFinite(seconds) ? [AbortSignal.timeout(seconds * 1_000)] : [];
  const ends = AbortSignal.any([signal, ...late]);
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(ends.reason);
  ends.addEventListener("abort", stop, { once: true });
  try {
    ends.throwIfAborted();
    const given = { ...context, signal: ends, secret: vault.secret };
    return hidden(vault, await Promise.race([tool.run(input, given), stopped.promise]));
  } catch (thrown) {
    const late = signal.aborted ? "it was stopped" : `it took longer than ${seconds} s`;
    const because = ends.aborted ? late : wordsOf(thrown);
    return { text: untrusted(vault.hide(`${tool.schema.name} failed: ${because}`)), failed: true };
  } finally {
    ends.removeEventListener("abort", stop);
  }
}

const wordsOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

function hidden(vault: Parts["vault"], { text, failed, writes }: ToolOutcome): ToolOutcome {
  return {
    text: untrusted(vault.hide(text)),
    failed,
    ...(writes !== undefined && {
      writes: writes.map((write) => ({
        ...write,
        memory: {
          ...write.memory,
          content: untrusted(vault.hide(write.memory.content)),
          tags: write.memory.tags.map((tag) => vault.hide(tag)),
        },
      })),
    }),
  };
}
