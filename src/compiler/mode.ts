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

/** How a model's window is shared. Tokens. */
export interface Room {
  /** Everything: the smaller of the window and the agent's budget. */
  readonly whole: number;
  /** Kept free for the reply. */
  readonly reply: number;
  /** The most tokens that may be sent. */
  readonly limit: number;
}

/** In a small window, the reply gets at most this share, whatever the budget reserves. */
const REPLY = 1 / 4;

/** If all layers are sent whole, this share of the room must be left for the message. */
const MESSAGE = 1 / 4;

/** How the window is shared between what is sent and the reply. */
export function roomIn(window: number, { total, reply }: Pick<Budgets, "total" | "reply">): Room {
  const whole = Math.min(total, window);
  const reserve = Math.min(reply, Math.floor(window * REPLY));
  return { whole, reply: reserve, limit: whole - reserve };
}

/** The inputs for the choice of the mode. */
export interface ModeInput {
  readonly agent: Agent;
  /** The model's context window in tokens. */
  readonly window: number;
  readonly tools: readonly ToolSchema[];
  /** The texts of the prefix that differ from the declared ones. */
  readonly contents?: ReadonlyMap<LayerId, LayerContent>;
  readonly count: CountTokens;
  /** Whether the agent has enough credits. */
  readonly tier?: SurvivalTier;
}

/**
 * How much of the prompt is sent: as declared or, with `mode: auto`, all of it if at least a quarter of the room is left for the message
 * beside tools, prefix, the live layers' budgets and the reply. An agent with hardly any credits sends the compact prompt. Pure.
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
