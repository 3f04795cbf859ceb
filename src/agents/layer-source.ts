import type { LayerConfig } from "./config-schema.ts";

/** Sources that the platform brings, and what they are filled with anew each turn. */
export const LIVE_SOURCES = [
  "clock",
  "recall",
  "vitals",
  "obligations",
  "conversation",
  "recent",
  "allowance",
] as const;

/** Sources of texts that stand in the prefix until somebody edits them. */
export const STORED_SOURCES = ["soul", "skills"] as const;

/** All names that a source of the operator's own may not have. */
export const SOURCE_NAMES: readonly string[] = [...LIVE_SOURCES, ...STORED_SOURCES];

type Sourced = Pick<LayerConfig, "source">;

/** Whether it stands in the prefix until somebody edits it. */
export const isStored = ({ source }: Sourced): boolean => STORED_SOURCES.some((name) => name === source);

/** Whether it is filled anew each turn. */
export const isLive = (layer: Sourced): boolean => layer.source !== undefined && !isStored(layer);

/** Whether all that it says is the platform's own word: the time, the agent's condition, its tools. */
export const tellsItself = ({ source }: Sourced): boolean =>
  source === "clock" || source === "vitals" || source === "allowance";

/** Whether it takes a limit. */
export const takesLimit = ({ source }: Sourced): boolean => source === "recall" || source === "recent";
