import { formProblem, type GuardFinding, type GuardVerdict, layerJudge } from "../../guard/index.ts";

/** The guard of layers' texts, for commands that open nothing. */

/** What is said of a text that wants to become a layer's: of its form, or by the guard. */
export interface TextJudgement extends Pick<GuardVerdict, "verdict"> {
  readonly findings: readonly (Omit<GuardFinding, "kind"> & { readonly kind: GuardFinding["kind"] | "form" })[];
}

/** Judges texts as an edit would be judged, but for their size. */
export async function newTextJudge(): Promise<(text: string) => TextJudgement> {
  const judge = await layerJudge();
  return (text) => {
    const problem = formProblem(text);
    if (problem === undefined) return judge(text);
    return { verdict: "reject", findings: [{ kind: "form", message: problem, words: "" }] };
  };
}
