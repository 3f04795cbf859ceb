import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { openApp } from "../../src/index.ts";
import { scriptedModel } from "../../src/models/index.ts";
import { ROOT } from "../files.ts";

/** What one says and what the model answers; the same for all engines, and never twice in a thread. */
export interface Exchange {
  readonly asked: string;
  readonly answer: string;
}

/** Keeps conversations, and answers with a model that says what it is told to. */
export interface TurnEngine {
  readonly name: string;
  /** Brings a thread to the length from which it is measured. */
  readonly fill: (thread: string, exchanges: readonly Exchange[]) => Promise<void>;
  readonly turn: (thread: string, exchange: Exchange) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Where it keeps all: a file, with commits that wait for the disk or not, or the address of an empty database of PostgreSQL. */
export type Place = { readonly file: string; readonly synchronous: boolean } | { readonly url: string };

/** The shipped companion, as it answers on the command line: memory, recall, ledger, chain and all. */
export async function strataTurns(folder: string, url?: string): Promise<TurnEngine & { readonly file: string }> {
  let answer = "";
  const model = {
    ...scriptedModel([]),
    doStream: (options: Parameters<ReturnType<typeof scriptedModel>["doStream"]>[0]) =>
      scriptedModel([answer]).doStream(options),
  };
  const data = mkdtempSync(join(folder, "strata-"));
  const env = url === undefined ? {} : { STRATA_STORE: url };
  const app = await openApp({ folder: join(ROOT, "blueprints/companion"), data, env, model });
  const turn = async (contact: string, exchange: Exchange): Promise<void> => {
    ({ answer } = exchange);
    const said = await app.ask({ agent: "companion", contact, text: exchange.asked }).reply();
    if (said !== answer) throw new Error(`Strata said "${said}" where the model said "${answer}"`);
  };
  const fill = async (contact: string, exchanges: readonly Exchange[]): Promise<void> => {
    for (const exchange of exchanges) await turn(contact, exchange);
  };
  return { name: "strata", file: join(data, "strata.db"), fill, turn, close: () => app.close() };
}

/** A graph of one node that calls the model, with the messages as its state: what its documentation shows first. */
export async function langGraphTurns(place: Place): Promise<TurnEngine> {
  const saver = "url" in place ? PostgresSaver.fromConnString(place.url) : SqliteSaver.fromConnString(place.file);
  if (saver instanceof PostgresSaver) await saver.setup();
  const isSynchronous = "file" in place && place.synchronous;
  if (saver instanceof SqliteSaver && isSynchronous) saver.db.pragma("synchronous = FULL");
  let answer = "";
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", () => ({ messages: [new AIMessage(answer)] }))
    .addEdge("__start__", "model")
    .addEdge("model", "__end__")
    .compile({ checkpointer: saver });
  const at = (thread: string) => ({ configurable: { thread_id: thread } });
  return {
    name: isSynchronous ? "langgraph, waits" : "langgraph",
    // As one state: by turns it would write the whole history a thousand times.
    fill: async (thread, exchanges) => {
      const messages = exchanges.flatMap((one): BaseMessage[] => [
        new HumanMessage(one.asked),
        new AIMessage(one.answer),
      ]);
      await graph.updateState(at(thread), { messages }, "model");
    },
    turn: async (thread, exchange) => {
      ({ answer } = exchange);
      const { messages } = await graph.invoke({ messages: [new HumanMessage(exchange.asked)] }, at(thread));
      if (messages.at(-1)?.content !== answer) throw new Error("LangGraph did not give the model's answer");
    },
    close: async () => {
      if (saver instanceof PostgresSaver) await saver.end();
      else saver.db.close();
    },
  };
}
