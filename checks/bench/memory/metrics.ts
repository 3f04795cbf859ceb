/** How well questions were answered: means over the questions. */
export interface Quality {
  readonly questions: number;
  /** Share of what answers a question that stands among the first 5, 10, 20. */
  readonly recall5: number;
  readonly recall10: number;
  readonly recall20: number;
  /** 1 over the rank of the first that answers; 0 beyond 20. */
  readonly mrr: number;
  /** Of the first ten, each answer discounted by the logarithm of its rank, over the best there could be. */
  readonly ndcg10: number;
}

/** One question's answer: what was found, best first, and what should have been. */
export interface Answered {
  readonly found: readonly string[];
  readonly relevant: readonly string[];
}

export function quality(answers: readonly Answered[]): Quality {
  const mean = (of: (answer: Answered) => number): number =>
    answers.reduce((sum, answer) => sum + of(answer), 0) / answers.length;
  return {
    questions: answers.length,
    recall5: mean((answer) => recall(answer, 5)),
    recall10: mean((answer) => recall(answer, 10)),
    recall20: mean((answer) => recall(answer, 20)),
    mrr: mean(reciprocalRank),
    ndcg10: mean((answer) => gain(answer, 10)),
  };
}

function recall({ found, relevant }: Answered, first: number): number {
  const shown = new Set(found.slice(0, first));
  return relevant.filter((id) => shown.has(id)).length / relevant.length;
}

function reciprocalRank({ found, relevant }: Answered): number {
  const rank = found.slice(0, 20).findIndex((id) => relevant.includes(id));
  return rank < 0 ? 0 : 1 / (rank + 1);
}

function gain({ found, relevant }: Answered, first: number): number {
  const discounted = (ranks: readonly number[]): number =>
    ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 2), 0);
  const hits = found.slice(0, first).flatMap((id, rank) => (relevant.includes(id) ? [rank] : []));
  return discounted(hits) / discounted(relevant.slice(0, first).map((_, rank) => rank));
}
