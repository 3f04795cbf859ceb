// Checked by `tsc`: each line under an `@ts-expect-error` must not compile (000.20: an agent's states have one order).
import { after } from "./states.ts";

after("sleeping", "loading context");
after("loading context", "inferring");
after("inferring", "executing actions");
after("executing actions", "inferring");
after("inferring", "persisting");
after("persisting", "sleeping");
after("inferring", "faulted");
after("faulted", "loading context");
// @ts-expect-error nothing is inferred before the context is there
after("sleeping", "inferring");
// @ts-expect-error nothing acts before it has thought
after("loading context", "executing actions");
// @ts-expect-error what was done is written down before it sleeps
after("inferring", "sleeping");
// @ts-expect-error a turn that has ended does not continue
after("persisting", "inferring");
// @ts-expect-error a fault heals by a turn and by nothing else
after("faulted", "idle");
// @ts-expect-error nobody is born twice
after("sleeping", "bootstrapping");
// @ts-expect-error there is no such state
after("sleeping", "dreaming");
