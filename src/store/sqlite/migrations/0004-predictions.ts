import type { Migration } from "../../migrations.ts";

const NEW = ["cache_write_long", "predicted_read", "predicted_write", "predicted_write_long", "predicted_input"];

/** What each call was expected to be billed, beside its bill; and what of it was written for the long lifetime. Older rows have none. */
export const predictions: Migration = {
  number: 4,
  name: "predictions",
  statements: NEW.map((column) => `alter table request add column ${column} integer`),
};
