import type {
  Agent,
  Budgets,
  CountTokens,
  LayerContent,
  LayerId,
  Mode,
  SurvivalTier,
  ToolSchema,
} from "../protocol/index.ts";
import { drafts } from "./drafts.ts";
import { countTools } from "./tokens.ts";

/** What a model's window is shared between. Tokens. */
export interface Room {
  /** All that there is: the smaller of the window and the agent's budget. */
  readonly whole: number;
  /** Kept free for the reply. */
  readonly reply: number;
  /** What may be sent. */
  readonly limit: number;
}

/** Of a small window the reply takes no more than this share, whatever the budget reserves. */
const REPLY = 1 / 4;

/** Of the room this share is left for the message, where all layers are sent whole. */
const MESSAGE = 1 / 4;

/** How the window is shared between what is sent and the reply. */
export function roomIn(window: number, { total, reply }: Pick<Budgets, "total" | "reply">): Room {
  const whole = Math.min(total, window);
  const reserve = Math.min(reply, Math.floor(window * REPLY));
  return { whole, reply: reserve, limit: whole - reserve };
}

/** What the mode is chosen by. */
export interface ModeInput {
  readonly agent: Agent;
  /** The model's context window in tokens. */
  readonly window: number;
  readonly tools: readonly ToolSchema[];
  /** What stands in the prefix now, where that is not what was declared. */
  readonly contents?: ReadonlyMap<LayerId, LayerContent>;
  readonly count: CountTokens;
  /** How well the agent can pay for itself. */
  readonly tier?: SurvivalTier;
}

/**
 * How much of the prompt is sent: as declared, or with `mode: auto` all of it where at least a quarter of the room is left for
 * the message beside tools, prefix, the live layers' budgets and the reply. An agent that can hardly pay sends less. Pure.
 */
export function chooseMode({ agent, window, tools, contents = new Map(), count, tier }: ModeInput): Mode {
  if (agent.mode !== "auto") return agent.mode;
  if (tier === "Critical") return "compact";
  const { whole, limit } = roomIn(window, agent.budgets);
  const prefix = drafts(agent.layers, "system", "full", contents, count);
  const live = agent.layers.filter(({ scope, modes }) => scope === "turn" && modes.full !== "absent");
  const taken =
    countTools(tools, count) +
    prefix.reduce((sum, { wanted }) => sum + wanted, 0) +
    live.reduce((sum, { budget, minimum }) => sum + (budget ?? minimum), 0);
  return limit - taken >= whole * MESSAGE ? "full" : "compact";
}
