/** What the requests of a record are counted by. */
export { tokenCounter } from "../../models/index.ts";
