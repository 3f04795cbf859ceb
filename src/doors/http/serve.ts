import { join } from "node:path";
import type { Operation } from "../../features/index.ts";
import type { Actor, TurnEvent } from "../../protocol/index.ts";
import { createServer, type HealthReport, type Server } from "./create-server.ts";
import { type Listening, listen } from "./listen.ts";
import type { Doors } from "./route.ts";
import { siteOf } from "./site.ts";
import { isSameToken, operatorToken } from "./token.ts";

/** What is served, and what comes from outside. */
export interface Served extends Omit<Doors, "turns"> {
  readonly operations: readonly Operation[];
  readonly operator: Actor;
  /** The data folder, which holds the token. */
  readonly data: string;
  readonly version: string;
  /** Why nothing can be kept any more. Nothing where all is well. */
  readonly trouble: () => Promise<string | undefined>;
  /** `n` bytes of chance. */
  readonly random: (n: number) => Uint8Array;
}

/** Where and under which names to serve. */
export interface ServeOptions {
  readonly port: number;
  /** The address to listen at; without one, this machine alone. */
  readonly host?: string;
  /** More names that clients may call it by, as `Host` gives them: those of a proxy in front of it. */
  readonly hosts?: readonly string[];
  /** Sees what the turns tell that clients ask for. */
  readonly watch?: (event: TurnEvent) => void;
}

/** A server that answers, and the key to it. */
export interface Serving extends Listening {
  /** The address with the operator's token behind `#`, where no server and no log sees it. */
  readonly link: string;
  /** The file with the token. */
  readonly tokenFile: string;
}

/**
 * Serves to whoever has the operator's token; at another address than this machine's own, nobody else gets any answer.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file
 */
export async function serveOperator(served: Served, options: ServeOptions): Promise<Serving> {
  const { host = "127.0.0.1", hosts, port, watch } = options;
  const tokenFile = join(served.data, "operator.token");
  const token = operatorToken(tokenFile, served.random);
  const serverAt = (got: number): Server =>
    createServer({
      ...served,
      site: siteOf({ host, port: got }, hosts),
      actorOf: (given) => (isSameToken(given, token) ? served.operator : undefined),
      health: () => healthOf(served),
      watch,
    });
  const listening = await listen(serverAt, { host, port });
  return { ...listening, link: `${listening.url}/#token=${token}`, tokenFile };
}

async function healthOf({ runtime, operator, modelNameOf, data, version, trouble }: Served): Promise<HealthReport> {
  const because = await trouble();
  const agents = runtime
    .agents(operator)
    .map((agent) => ({ name: agent.name, version: agent.version, model: modelNameOf(agent) }));
  const report = { version, agents, data };
  return because === undefined ? { status: "ok", ...report } : { status: "failing", ...report, because };
}
