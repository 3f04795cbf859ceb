import { type KindsOf, sourceForm } from "../../agents/index.ts";

/** What the platform says about itself. It is in the prefix: it changes only with another model, machine or tool. */
export const SOURCES = {
  tools: sourceForm({
    fills: "the agent's tools, a line each",
    isStored: true,
    isOurs: true,
    changesFor: "agent",
    kept: {},
    make: () => ({}),
  }),
  limits: sourceForm({
    fills: "how many calls a turn may make, and how often tools with a limit of their own may be called",
    isStored: true,
    isOurs: true,
    changesFor: "agent",
    kept: {},
    make: () => ({}),
  }),
  runtime: sourceForm({
    fills: "the agent's name, its model, the system, the host and the folder",
    isStored: true,
    isOurs: true,
    changesFor: "agent",
    kept: {},
    make: () => ({}),
  }),
};

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
