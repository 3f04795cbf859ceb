import type { AgentName, Allowed, ContactScope, ThreadId } from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { featureApi } from "../../turn/index.ts";

export interface PeerApi {
  /**
   * The one agent under `entry` that accepts this type.
   * @throws StrataError `no_listener`
   */
  listenerFor(actor: Allowed<"post">, payloadType: string): AgentName;
  /** Threads of an agent on which nothing has happened for its `ttlHours`, and that were not warned. At most 100. */
  idle(actor: Allowed<"operate">, agent: AgentName): Promise<readonly Thread[]>;
  /** Those of these threads that were closed, since nothing happened on them after a warning. */
  closed(
    actor: Allowed<"view">,
    threads: readonly { readonly id: ThreadId; readonly scope: ContactScope }[],
  ): Promise<readonly ThreadId[]>;
  /** Warns one of them: the agent has a turn, and the grace begins. */
  warn(actor: Allowed<"operate">, thread: Thread): Promise<void>;
}

/** The functions of peers, as `runtime.use` gives them. */
export const PEER_API = featureApi<PeerApi>("peers");
