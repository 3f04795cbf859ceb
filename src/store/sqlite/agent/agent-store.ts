import type { AgentStore } from "../../agent-store.ts";
import type { Store } from "../../store.ts";
import { openBatch, waitingThreads } from "../batches.ts";
import type { Connection } from "../connection.ts";
import { acts, noteAct } from "./acts.ts";
import { conversation, conversations } from "./conversations.ts";
import { credits, topUp, topUps } from "./credits.ts";
import { decideText, editText, moveText } from "./edit-texts.ts";
import { life, moveLife } from "./life.ts";
import { deliveriesDue, dueDeliveries, inbox, mail, mailCounts, noteDelivery, unanswered } from "./mail.ts";
import { proposalCounts, proposals } from "./proposals.ts";
import { turnCount } from "./tally.ts";
import { activeTexts, textMoves, textPointers, textVersions } from "./texts.ts";

/** Makes a function of the contract of one that is given the database. */
export type Bind = <Given extends readonly unknown[], R>(
  work: (db: Connection, ...given: Given) => R,
) => (...given: Given) => Promise<R>;

/** What the store keeps of agents that live by themselves, and which threads are next in their inbox. */
export function agentStore(bound: Bind): AgentStore & Pick<Store, "openBatch" | "waitingThreads"> {
  return {
    openBatch: bound(openBatch),
    waitingThreads: bound(waitingThreads),
    activeTexts: bound(activeTexts),
    textPointers: bound(textPointers),
    textVersions: bound(textVersions),
    proposals: bound(proposals),
    proposalCounts: bound(proposalCounts),
    textMoves: bound(textMoves),
    editText: bound(editText),
    decideText: bound(decideText),
    moveText: bound(moveText),
    conversations: bound(conversations),
    conversation: bound(conversation),
    life: bound(life),
    moveLife: bound(moveLife),
    credits: bound(credits),
    topUps: bound(topUps),
    topUp: bound(topUp),
    turnCount: bound(turnCount),
    inbox: bound(inbox),
    mail: bound(mail),
    mailCounts: bound(mailCounts),
    unanswered: bound(unanswered),
    deliveriesDue: bound(deliveriesDue),
    dueDeliveries: bound(dueDeliveries),
    noteDelivery: bound(noteDelivery),
    noteAct: bound(noteAct),
    acts: bound(acts),
  };
}
