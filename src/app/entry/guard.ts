import { formProblem, type GuardFinding, type GuardVerdict, layerJudge } from "../../guard/index.ts";

/** The guard of layers' texts, for commands that open nothing. */

/** What the form check or the guard says about a text proposed for a layer. */
export interface TextJudgement extends Pick<GuardVerdict, "verdict"> {
  readonly findings: readonly (Omit<GuardFinding, "kind"> & { readonly kind: GuardFinding["kind"] | "form" })[];
}

/** Judges texts as an edit would be judged, except for their size. */
export async function newTextJudge(): Promise<(text: string) => TextJudgement> {
  const judge = await layerJudge();
  return (text) => {
    const problem = formProblem(text);
    if (problem === undefined) return judge(text);
    return { verdict: "reject", findings: [{ kind: "form", message: problem, words: "" }] };
  };
}
