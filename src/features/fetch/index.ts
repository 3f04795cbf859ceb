/** Agents that read the web: requests to the public web alone, whatever an address says and wherever it leads. */
import type { Feature } from "../feature.ts";
import { KEYS } from "./config.ts";
import { fetchTools } from "./tools.ts";

export const FEATURE: Feature = {
  name: "fetch",
  keys: KEYS,
  tools: ({ agentOf }) => fetchTools({ rulesOf: (scope) => agentOf(scope)?.fetch }),
  operations: [],
};
