/** The parts that `strata cache` works with. */
export { tokenCounter } from "../models/index.ts";
export {
  type Bill,
  type CacheRules,
  cardOf,
  LAYOUT_SAYS,
  LAYOUTS,
  type Layout,
  layoutBills,
  optimum,
  rulesOf,
  type SeenRequest,
  seenOf,
  seenOfBody,
} from "../wire/index.ts";
