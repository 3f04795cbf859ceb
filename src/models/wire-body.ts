import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type ModelRef, type Request, StrataError } from "../protocol/index.ts";
import { anthropicModel } from "./anthropic.ts";
import { toCallOptions } from "./call-options.ts";
import { modelError, splitRef } from "./failure.ts";

type Fetch = typeof globalThis.fetch;

/** One line per provider whose bodies can be shown. */
const WIRES: Readonly<Record<string, (name: string, fetch: Fetch) => LanguageModelV4>> = {
  anthropic: (name, fetch) => anthropicModel(name, { key: "none" }, fetch),
};

/**
 * The exact body that the provider's package would send for this request, streaming. Nothing leaves the process: the
 * package runs up to its fetch and no further.
 * @throws StrataError `model_unknown`; `model_refused` when the package cannot say what the request holds
 */
export async function wireBody(request: Request, wire: ModelRef): Promise<string> {
  const { provider, model } = splitRef(wire);
  const languageModel = Object.hasOwn(WIRES, provider) && wire !== provider ? WIRES[provider] : undefined;
  if (languageModel === undefined || model === "") throw unknownWire(wire);
  let body: unknown;
  const capture: Fetch = (_url, init) => {
    body = init?.body;
    return Promise.reject(new Error("captured"));
  };
  const options = toCallOptions(request);
  try {
    await languageModel(model, capture).doStream(options);
  } catch (thrown) {
    if (typeof body === "string") return body;
    throw modelError(thrown, { ref: wire, secrets: [] });
  }
  throw new StrataError("unexpected", `the package for ${wire} sent its request another way than by fetch`, { wire });
}

function unknownWire(wire: ModelRef): StrataError {
  const known = Object.keys(WIRES).map((provider) => `${provider}:NAME`);
  return new StrataError(
    "model_unknown",
    `no request body is known for the model ${JSON.stringify(wire)}; it must be ${known.join(" or ")}`,
    { model: wire },
  );
}
