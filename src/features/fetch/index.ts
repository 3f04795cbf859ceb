/** Agents that read the web: requests to the open web alone, whatever an address says and wherever it leads. */
export { OPEN_WEB, type Reach } from "./reach.ts";
export { type FetchParts, type FetchRules, fetchTools, USUAL } from "./tools.ts";
