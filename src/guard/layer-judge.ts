import type { GuardVerdict } from "./override/verdict.ts";

/** Who judges texts for layers: loaded with the first call, for its patterns take a moment and few programs judge a text. */
export async function layerJudge(): Promise<(text: string) => GuardVerdict> {
  const { judgeLayerText } = await import("./override/override.ts");
  return judgeLayerText;
}
