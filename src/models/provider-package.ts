import { createRequire } from "node:module";
import { StrataError } from "../protocol/index.ts";

const installed = createRequire(import.meta.url);

/**
 * Loads a provider's package when a model of its is opened, and not before: most programs speak to one provider, or to none. A
 * package that is large and used by few is not installed with Strata.
 * @throws StrataError `model_unknown` where it is not installed
 */
export function providerPackage<Package>(name: string): Package {
  try {
    return installed(name);
  } catch (thrown) {
    const isMissing = thrown instanceof Error && "code" in thrown && thrown.code === "MODULE_NOT_FOUND";
    if (!isMissing || !thrown.message.includes(`'${name}'`)) throw thrown;
    const says = `the package ${name} is not installed; run \`npm install ${name}\` where Strata is installed`;
    throw new StrataError("model_unknown", says, { package: name });
  }
}
