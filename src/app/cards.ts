import type { Project } from "../agents/index.ts";
import type { Secrets } from "../models/index.ts";
import type { ModelRef } from "../protocol/index.ts";
import { cardBook, type ModelCard, UNKNOWN } from "../wire/index.ts";
import type { PlacedOptions } from "./options.ts";
import { accessOf, projectsOf } from "./projects.ts";

/** What is known of a model. */
export type CardOf = (model: ModelRef) => ModelCard;

/** What is known of models where a project is: nothing is opened. @throws StrataError as `loadProject` */
export function cardsWhere(options: Omit<PlacedOptions, "data">): CardOf {
  const projects = projectsOf({ ...options, recordOnly: true });
  return cardsOf(projects, accessOf(projects));
}

/** What is known of models: as declared over what is built in, where a provider of another name speaks a known API, under that. */
export function cardsOf(projects: readonly Project[], access: Secrets): CardOf {
  const cards = cardBook(Object.assign({}, ...projects.toReversed().map(({ models }) => models)));
  return (model) => {
    const card = cards(model);
    const [provider = "", ...name] = model.split(":");
    const { kind, package: npm } = access(provider) ?? {};
    const known = npm === undefined ? kind : MAKERS.get(npm.name);
    // A name that is built in says more than the API that its server speaks.
    return card.family === UNKNOWN.family && known !== undefined ? cards(model, [known, ...name].join(":")) : card;
  };
}

/** Under which name the models of these packages are built in. */
const MAKERS: ReadonlyMap<string, string> = new Map([
  ["@ai-sdk/anthropic", "anthropic"],
  ["@ai-sdk/openai", "openai"],
  ["@ai-sdk/google", "google"],
  ["@ai-sdk/deepseek", "deepseek"],
  ["@ai-sdk/amazon-bedrock", "bedrock"],
  ["@openrouter/ai-sdk-provider", "openrouter"],
]);
