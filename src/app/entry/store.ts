import { randomUUID } from "node:crypto";
import { type CopyProgress, copyStores as copied, resumeStore as resumed } from "../../store/index.ts";
import { allParts } from "./features.ts";

/** The value of an environment variable, with those of the project's `.env`. */
export { variableAt } from "../../agents/index.ts";
/** The store without an app: facts for the doctor, and copies from one database to another. */
export { serverFacts, storeName, vectorExtension } from "../../store/index.ts";

/** Copies all that a store keeps, and all that features keep in it, into an empty one. */
export const copyStores = async (
  from: string,
  to: string,
  onProgress?: (progress: CopyProgress) => void,
): Promise<CopyProgress> =>
  copied(from, to, {
    id: randomUUID(),
    at: Date.now(),
    parts: await allParts(),
    ...(onProgress && { onProgress }),
  });

/** Lets a store that was copied elsewhere be opened again; undefined if it was never copied. */
export const resumeStore = async (address: string): ReturnType<typeof resumed> => resumed(address, await allParts());
