import { join } from "node:path";

/** The database of a data folder: where there is none, nothing was stored yet. */
export function recordFile(data: string): string {
  return join(data, "strata.db");
}

/** Where contacts' files are in it. */
export const workspacesIn = (data: string): string => join(data, "workspace");
