import { createRequire } from "node:module";

/** Loads a provider's package when a model of its is opened, and not before: most programs speak to one provider, or to none. */
export const providerPackage = createRequire(import.meta.url);
