import { randomBytes } from "node:crypto";
import { type ServeOptions, type Serving, serveOperator } from "../doors/http/index.ts";
import { allOperations, errorCodes } from "./entry/features.ts";
import type { App } from "./open.ts";
import { VERSION } from "./version.ts";
import { startWork, type WorkOptions } from "./work.ts";

/** Where and under which names to serve, and where reports go. */
export interface ServingOptions extends Omit<ServeOptions, "port">, WorkOptions {
  /** How long `close` lets running work continue before it stops it, in milliseconds. Default: 10,000. */
  readonly drain?: number;
}

const DRAIN = 10_000;

/**
 * Serves the runtime over HTTP to holders of the operator's token, and runs the background work.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file
 */
export async function serve(app: App, port: number, options: ServingOptions = {}): Promise<Serving> {
  await loadAhead(app);
  const outside = { version: VERSION, random: (n: number) => randomBytes(n) };
  const serving = await serveOperator(
    { ...app, ...outside, operations: await allOperations(), errorCodes },
    { ...options, port },
  );
  const work = await startWork(app, options);
  return {
    ...serving,
    close: async (drain = options.drain ?? DRAIN) => {
      await Promise.all([work.close(drain), serving.close(drain)]);
    },
  };
}

/** Loads ahead what the first turn would have to load: the vocabulary and the providers' packages. If a model cannot be opened, its turns say so. */
async function loadAhead(app: App): Promise<void> {
  for (const agent of app.runtime.agents(app.operator)) {
    await Promise.allSettled([app.modelOf(agent), app.counterOf(agent).then((count) => count(agent.name))]);
  }
}
