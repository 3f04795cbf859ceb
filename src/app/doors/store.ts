import { type CopyProgress, copyStores as copied } from "../../store/index.ts";
import { allParts } from "./features.ts";

/** What a variable holds, with the project's `.env`. */
export { variableAt } from "../../agents/index.ts";
/** The store without an app: what is there, for the doctor, and copies from one database to another. */
export { serverFacts, storeName, vectorExtension } from "../../store/index.ts";

/** Copies all that a store keeps, and all that features keep in it, into an empty one. */
export const copyStores = async (
  from: string,
  to: string,
  onProgress?: (progress: CopyProgress) => void,
): Promise<CopyProgress> => copied(from, to, { parts: await allParts(), ...(onProgress && { onProgress }) });
