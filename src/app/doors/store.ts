/** The store without an app: what is there, for the doctor, and copies from one database to another. */
export { type CopyProgress, copyStores, serverFacts, storeName, vectorExtension } from "../../store/index.ts";
