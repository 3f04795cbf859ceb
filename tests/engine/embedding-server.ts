import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { localServer } from "../local-server.ts";

/** Words that mean similar things stand in one direction. */
const MEANINGS: readonly (readonly string[])[] = [
  ["bicycle", "ride", "pedals", "wheels"],
  ["dog", "puppy", "barks", "pet"],
  ["tea", "drink", "brew", "thirsty"],
];

/** A text's meaning, as far as this knows it, in numbers; `more` numbers at the end make it another model's. */
function vectorOf(text: string, more: number): readonly number[] {
  const words = new Set(text.toLowerCase().match(/\p{L}+/gu));
  const known = MEANINGS.map((meaning) => meaning.filter((word) => words.has(word)).length);
  // What it does not know lies in a direction of its own, more or less.
  const other = known.some((n) => n > 0)
    ? -1
    : [...text].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % 8;
  return [
    ...known,
    ...Array.from({ length: 8 }, (_, n) => Number(n === other)),
    ...Array.from({ length: more }, () => 0),
  ];
}

/** Numbers by chance, the same for the same text: a model that knows nothing. */
function noiseOf(text: string): readonly number[] {
  let state = [...text].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) >>> 0, 7);
  return Array.from({ length: 32 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}

/** One call for vectors. */
export interface Asked {
  readonly model: string;
  readonly input: readonly string[];
}

/** What it does with the next calls: answers, says no with a status, or says nothing. */
export type Manner = "answers" | "silent" | number;

/** A server of embeddings on this machine, in OpenAI's words, whose models `small` and `large` know a few words, and `noise` none. */
export async function embeddingServer() {
  const asked: Asked[] = [];
  const state: { manner: Manner; refused?: RegExp } = { manner: "answers" };
  const port = await localServer(async (request, response) => {
    const call: Asked = JSON.parse(await text(request));
    asked.push(call);
    if (state.manner === "silent") return;
    const isRefused = call.input.some((text) => state.refused?.test(text) === true);
    const status = isRefused ? 400 : state.manner === "answers" ? 200 : state.manner;
    answer(response, status, call);
  });
  return { asked, state, url: `http://127.0.0.1:${port}/v1` };
}

function answer(response: ServerResponse, status: number, { model, input }: Asked): void {
  const data = input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: model === "noise" ? noiseOf(text) : vectorOf(text, model === "large" ? 2 : 0),
  }));
  const said = { object: "list", model, data, usage: { prompt_tokens: input.length, total_tokens: input.length } };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(status === 200 ? said : { error: { message: "not now", type: "some_error" } }));
}
