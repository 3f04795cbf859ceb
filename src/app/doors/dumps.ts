/** The token counters for the requests of a record. */
export { tokenCounter } from "../../models/index.ts";
