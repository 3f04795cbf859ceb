import { type Model, type ModelRef, StrataError } from "../protocol/index.ts";
import { type Access, anthropicModel } from "./anthropic.ts";
import { bindModel } from "./bind.ts";
import { splitRef } from "./failure.ts";
import { rehearsalModel } from "./rehearsal.ts";

/** The access to a provider, where there is one. */
export type Secrets = (provider: string) => Access | undefined;

/**
 * The model of that name, ready to be sent to: `anthropic:NAME` with a key, or `rehearsal` without.
 * @throws StrataError `model_unknown`, `secret_missing`, `invalid_input` for an address that is none
 */
export function openModel(ref: ModelRef, secrets: Secrets): Model {
  if (ref === "rehearsal") return rehearsalModel();
  const { provider, model } = splitRef(ref);
  if (provider !== "anthropic" || model === "" || model === ref) throw unknownModel(ref);
  const access = secrets(provider);
  if (access === undefined || access.key === "") throw secretMissing(ref, provider);
  if (access.url !== undefined && !URL.canParse(access.url)) throw noAddress(access.url, provider);
  return bindModel(anthropicModel(model, access), { ref, wire: ref, secrets: [access.key] });
}

const unknownModel = (ref: ModelRef) =>
  new StrataError("model_unknown", `no model is known as ${JSON.stringify(ref)}; name anthropic:NAME or rehearsal`, {
    model: ref,
  });

const secretMissing = (ref: ModelRef, provider: string) =>
  new StrataError(
    "secret_missing",
    `${ref} needs a key for ${provider} and there is none; set it, or use the model rehearsal, which needs no key`,
    { model: ref, provider },
  );

const noAddress = (url: string, provider: string) =>
  new StrataError(
    "invalid_input",
    `${JSON.stringify(url)} is not an address for ${provider}; it must be a URL such as https://api.example.com/v1`,
    { provider },
  );
