import type { Generated } from "kysely";
import type {
  ActorId,
  AgentName,
  ContactId,
  Digest,
  DoneBy,
  LayerId,
  MoveKind,
  OrgId,
  Role,
  TextPlace,
  TextVerdict,
  Trust,
  TurnId,
} from "../protocol/index.ts";

/** An agent's own rows, which name no contact. */
interface OfAgent {
  readonly org: OrgId;
  readonly agent: AgentName;
}

/** A row that has a link in the chain, by its number. */
interface Linked {
  readonly at: number;
  readonly link: number;
}

/**
 * A text's history; `part` is empty for a whole layer. The pointer moved from `was` to `stands`: 0 is the declared text, null nothing. A
 * row that made a version has all its fields; one that approved a contact's version has its text again. `reason`, `text`, `line` and
 * `findings` name pieces: of the contact, or shared ones if no contact is named.
 */
interface TextMoveTable extends OfAgent, Linked {
  readonly layer: LayerId;
  readonly part: string;
  readonly seq: number;
  readonly kind: MoveKind;
  readonly n: number;
  readonly was: number | null;
  readonly stands: number | null;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly turn: TurnId | null;
  readonly contact: ContactId | null;
  readonly reason: Digest;
  readonly text: Digest | null;
  readonly line: Digest | null;
  readonly findings: Digest | null;
  readonly verdict: TextVerdict["verdict"] | null;
  readonly trust: Trust | null;
  readonly inputs: Trust | null;
  readonly parent: number | null;
  /** Its purpose. */
  readonly rank: number | null;
  readonly source: TextPlace["source"] | null;
  readonly declared: Digest | null;
  /** 1 for a version that waits for an operator. Follows from the other rows, so no link says it; null for all others. */
  readonly waits: 1 | null;
}

/** An operator's action. `about` may name a contact; its link holds only a keyed digest of it. */
interface ActTable extends OfAgent, Linked {
  readonly id: number;
  readonly role: Role;
  readonly by_id: ActorId | null;
  readonly what: string;
  readonly about: string;
}

/** An erasure that is not through: its `contact` is there as long as the files are, the row as long as the write-ahead log may hold old pages. */
interface ErasureTable extends OfAgent {
  readonly number: Generated<number>;
  readonly contact: ContactId | null;
  readonly at: number;
}

/** The id of a signed message whose contact was erased, under the agent's key: the signature never counts again. */
interface SpentSignatureTable extends OfAgent {
  readonly digest: Digest;
}

/** An agent's earlier name. `agent`: its current name, even after later renamings. */
interface AgentRenameTable extends OfAgent, Linked {
  readonly was: AgentName;
  readonly role: Role;
  readonly by_id: ActorId | null;
}

/** The tables of what is an agent's own, whoever writes to it. */
export interface AgentTables {
  readonly erasure: ErasureTable;
  readonly spent_signature: SpentSignatureTable;
  readonly text_move: TextMoveTable;
  readonly agent_rename: AgentRenameTable;
  readonly act: ActTable;
}

/** Who did it, from a row's columns. */
export const toDoneBy = ({ by, by_id }: { readonly by: Role; readonly by_id: ActorId | null }): DoneBy => ({
  by,
  ...(by_id !== null && { byId: by_id }),
});
