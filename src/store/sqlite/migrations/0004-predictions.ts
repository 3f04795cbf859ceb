import type { Migration } from "../../migrations.ts";

const NEW = ["cache_write_long", "predicted_read", "predicted_write", "predicted_write_long", "predicted_input"];

/** The predicted bill of each call, next to the real one, and how much was written with the long lifetime. Older rows have neither. */
export const predictions: Migration = {
  number: 4,
  name: "predictions",
  statements: NEW.map((column) => `alter table request add column ${column} integer`),
};
