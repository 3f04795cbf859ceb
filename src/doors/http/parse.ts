import type { z } from "zod";
import { parsed as parsedFields } from "../../features/index.ts";

/** Where in a request a field stands. */
export type Place = "path" | "query" | "body";

/**
 * What came from outside, as the schema's protocol types. Fields that the schema does not know are refused.
 * @throws StrataError `invalid_input`, and what the makers of ids throw
 */
export function parsed<S extends z.ZodObject>(schema: S, value: unknown, place: Place): z.output<S> {
  return parsedFields(schema, value, { whole: `the ${place}`, field: (name) => `\`${name}\` in the ${place}` });
}
