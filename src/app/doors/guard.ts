import { checkNewText, type GuardFinding, type GuardVerdict, layerJudge } from "../../guard/index.ts";
import { looksLikeOurs } from "../../protocol/index.ts";

/** The guard of layers' texts, for commands that open nothing. */

/** What is said of a text that wants to become a layer's: of its form, or by the guard. */
export interface TextJudgement extends Pick<GuardVerdict, "verdict"> {
  readonly findings: readonly (Omit<GuardFinding, "kind"> & { readonly kind: GuardFinding["kind"] | "form" })[];
}

/** Judges texts as an edit would be judged, but for their size. */
export async function newTextJudge(): Promise<(text: string) => Promise<TextJudgement>> {
  const judge = await layerJudge();
  return async (text) => {
    const problem = await formProblem(text);
    if (problem === undefined) return judge(text);
    return { verdict: "reject", findings: [{ kind: "form", says: problem, words: "" }] };
  };
}

/** Control characters and halves of characters, but for tabs and line ends. */
const NO_TEXT = /(?![\t\n\r])[\p{Cc}\p{Cs}]/gu;

/** As the refusal of an edit says it. What is wrong is shown to that check alone: a text of any size may be judged. */
async function formProblem(text: string): Promise<string | undefined> {
  const kept = text.trimEnd();
  const signs = [...new Set(kept.match(NO_TEXT) ?? [])].slice(0, 100);
  const ours = kept.split(/\r\n?|\n/).find((line) => looksLikeOurs(line.trim()));
  const suspect = signs.length > 0 ? `${signs.join("x")}x` : kept === "" ? "" : ours;
  if (suspect === undefined) return undefined;
  return (await checkNewText({ kind: "layer", text: suspect, beside: 0 })).problem;
}
