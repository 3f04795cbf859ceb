import type {
  Actor,
  ActorId,
  AgentName,
  ContactId,
  DoneBy,
  NewText,
  OrgId,
  Role,
  StoredEvent,
  TextKey,
  TextMove,
  TextPointer,
  TextVersion,
  TurnId,
  Untrusted,
} from "../protocol/index.ts";
import type { Paging, Position } from "./records.ts";

/** Whose texts, state and credits: an agent's own, with no contact in them. */
export interface AgentOwner {
  readonly org: OrgId;
  readonly agent: AgentName;
}

/** Who changes what is active, and why. */
interface Deed extends DoneBy {
  readonly reason: Untrusted;
  readonly at: number;
}

/** What a text that is to become active was measured with: as in `NewText`. */
type Measured = Pick<NewText, "beside">;

/** Who moves the pointer of a text: to a version, 0 for the declared one, or to nothing, which needs no room: a skill is disabled. */
export type MoveRequest = Deed & { readonly kind: "activated" | "rolled back" | "disabled" } & (
    | ({
        readonly to: number;
        /** Set if the pointer starts on nothing instead of on the declared text, until it is first moved. */
        readonly atFirst?: null;
      } & Measured)
    | { readonly to: null; readonly beside?: never; readonly atFirst?: never }
  );

/** An operator's decision on a proposal. `over`: the version that it replaces; if omitted, its `parent`. */
export type TextDecision = Deed &
  (
    | ({ readonly verdict: "approved"; readonly over?: number } & Measured)
    | { readonly verdict: "rejected"; readonly over?: number; readonly beside?: never }
  );

/** Which versions are asked for. */
export interface VersionsWish {
  /** Of one text; if omitted, of all. */
  readonly key?: TextKey;
  /** Only versions with a smaller number. */
  readonly before?: number;
  readonly limit: number;
}

/** Which moves are asked for. */
export interface MovesWish {
  /** Of one text; if omitted, of all. */
  readonly key?: TextKey;
  /** Only moves with a smaller number. */
  readonly before?: number;
  /** Only moves about versions with a smaller number. */
  readonly below?: number;
  readonly limit: number;
}

/** Texts of agents that may be changed: every version kept, and which is active. Each change is a link of the chain. */
interface TextStore {
  /** Of each key that was ever edited, its active version; none where the declared text or nothing is active. */
  activeTexts(owner: AgentOwner): Promise<readonly TextVersion[]>;
  /** Of each key whose pointer was ever moved, a skill's too that was only enabled or disabled. */
  textPointers(owner: AgentOwner): Promise<readonly TextPointer[]>;
  /**
   * Newest first. A proposal out of a turn that had seen a contact's text is the contact's until it is approved: erased with its
   * contact it is empty, and rejected.
   */
  textVersions(owner: AgentOwner, wish: VersionsWish): Promise<readonly TextVersion[]>;
  /** Versions that wait for an operator, the oldest first. `own`: those of the agent's in which no contact had a say. */
  proposals(owner: AgentOwner, wish: Paging & { readonly own?: true }): Promise<readonly Proposal[]>;
  /** How many versions wait, of each text of which any does. */
  proposalCounts(owner: AgentOwner): Promise<readonly (TextKey & { readonly proposals: number })[]>;
  /** Newest first. */
  textMoves(owner: AgentOwner, wish: MovesWish): Promise<readonly TextMove[]>;
  /**
   * Stores a version. A `kept` one becomes active, unless a version other than its `parent` is active by now or one of those beside it
   * moved: then it is a proposal. So is an agent's version if none is active any more. A turn's commit does the same by the write `edit`.
   * Of each text an agent has one waiting proposal from its self-started turns, one from each contact's turns and one from turns of several
   * senders: a newer one supersedes it, and the same change to the same version is not stored twice. A version that would have been kept
   * but was overtaken is none of these: it waits beside them, and nothing replaces it.
   */
  editText(owner: AgentOwner, edit: NewText, at: number): Promise<TextVersion>;
  /**
   * @throws StrataError `text_not_found`; `text_decided` if it no longer waits, if the active version is not the one that it is to replace,
   * or if one of those beside it moved
   */
  decideText(owner: AgentOwner, key: TextKey & { readonly n: number }, decision: TextDecision): Promise<TextVersion>;
  /**
   * Whether the key is one of the agent's, and 0 a text of it, only its declaration knows.
   * @throws StrataError `text_not_found`, `text_decided` for a version that is a proposal or was rejected, or where one of those
   * beside it moved
   */
  moveText(owner: AgentOwner, key: TextKey, request: MoveRequest): Promise<TextMove>;
}

/** A message that waits for an agent. `isRunning`: a turn is handling it now. */
export interface WaitingMessage {
  readonly contact: ContactId;
  readonly event: StoredEvent;
  readonly isRunning: boolean;
}

/** A text that waits for an operator, and the link under which it was proposed: its place in the list. */
export type Proposal = TextVersion & { readonly link: number };

export interface MailStore {
  /** Events that wait, the oldest first. */
  inbox(owner: AgentOwner, wish: Paging & { readonly now: number }): Promise<readonly WaitingMessage[]>;
  /** How many there are. */
  inboxCount(owner: AgentOwner): Promise<number>;
  /**
   * Turns since then that left a sender without a reply, the newest first: the last done one of each thread, except threads of these
   * channels. Nothing is returned for an erased contact.
   */
  unanswered(
    owner: AgentOwner,
    wish: { readonly since: number; readonly except: readonly string[]; readonly limit: number },
  ): Promise<readonly TurnId[]>;
}

/** An operator's action on an agent. */
export interface Act {
  readonly id: number;
  readonly role: Role;
  readonly byId?: ActorId;
  readonly what: string;
  readonly about: string;
  readonly at: number;
}

/** Who read or changed what of an agent, recorded: a link of the chain each. */
interface AuditStore {
  /** Notes what an operator did: a name of what, and about what, without anybody's text. The link does not show about what. */
  noteAct(
    owner: AgentOwner,
    act: { readonly actor: Actor; readonly what: string; readonly about: string; readonly at: number },
  ): Promise<void>;
  /** Newest first. */
  acts(owner: AgentOwner, limit: number, after?: Position): Promise<readonly Act[]>;
}

export interface AgentStore extends TextStore, MailStore, AuditStore {}
