import { type ModelRef, type Request, StrataError } from "../protocol/index.ts";
import { type Fetch, NO_KEY, type Secrets } from "./access.ts";
import { toCallOptions } from "./call-options.ts";
import { modelError, splitRef } from "./failure.ts";
import { kindOf, type Language, openLanguage } from "./language.ts";

/**
 * The exact body that the provider's package would send for this request, streaming. Nothing leaves the process: the package runs only up
 * to its fetch, and it gets no key. `secrets` describes providers whose names differ from their kind's.
 * @throws StrataError `model_unknown`; `model_refused` if the package cannot express the request
 */
export async function wireBody(request: Request, wire: ModelRef, secrets: Secrets = () => undefined): Promise<string> {
  let body: unknown;
  const { model, dialect, comparison } = languageOf(wire, secrets, (_url, init) => {
    body = init?.body;
    return Promise.reject(new Error("captured"));
  });
  const { compare } = request;
  const plain = toCallOptions(request, dialect);
  const options = compare === undefined ? plain : (comparison?.asking(plain, compare) ?? plain);
  try {
    await model.doStream(options);
  } catch (thrown) {
    if (typeof body === "string") return body;
    throw modelError(thrown, { ref: wire, secrets: [] });
  }
  throw new StrataError("unexpected", `the package for ${wire} sent its request another way than by fetch`, { wire });
}

function languageOf(wire: ModelRef, secrets: Secrets, fetch: Fetch): Language {
  const { provider, model } = splitRef(wire);
  const access = secrets(provider);
  const kind = kindOf(provider, access);
  if (kind === undefined || wire === provider || model === "") throw unknownWire(wire);
  return openLanguage(
    kind,
    { provider, model },
    { access: { ...access, key: NO_KEY, signing: undefined, region: access?.region ?? SOME_REGION }, fetch },
  );
}

/** A body is the same in all regions of AWS. */
const SOME_REGION = "us-east-1";

function unknownWire(wire: ModelRef): StrataError {
  return new StrataError(
    "model_unknown",
    `no request body is known for the model ${JSON.stringify(wire)}; it must be anthropic:NAME, openai:NAME, openrouter:MAKER/NAME, bedrock:NAME or PROVIDER:NAME with a provider declared in strata.yaml`,
    { model: wire },
  );
}
