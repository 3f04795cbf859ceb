/** What the requests of a dump are counted and billed by. */
export { tokenCounter } from "../../models/index.ts";
export { cardsWhere } from "../cards.ts";
