import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import type { Opening } from "./access.ts";
import { providerPackage } from "./provider-package.ts";

/**
 * A model on Amazon Bedrock over its Converse API. With a Bedrock key that key is sent; with an access key of AWS each request is
 * signed. All that the package would look for in the environment is given, or said to be nothing.
 */
export function bedrockModel(name: string, opening: Opening): LanguageModelV4 {
  return bedrock(opening).languageModel(name);
}

/** An embedding model on Amazon Bedrock. */
export function bedrockEmbedding(name: string, opening: Opening): EmbeddingModelV4 {
  return bedrock(opening).embeddingModel(name);
}

function bedrock(opening: Opening) {
  const { key, url = "", region = REGION_OF_ADDRESS.exec(url)?.[1] ?? "us-east-1", signing, fetch } = opening;
  const { createAmazonBedrock }: typeof import("@ai-sdk/amazon-bedrock") = providerPackage("@ai-sdk/amazon-bedrock");
  const access =
    signing === undefined
      ? { apiKey: key }
      : {
          apiKey: "",
          accessKeyId: signing.id,
          secretAccessKey: key,
          ...(signing.session !== undefined && { sessionToken: signing.session }),
        };
  return createAmazonBedrock({ ...access, region, baseURL: url, fetch });
}

const REGION_OF_ADDRESS = /^https:\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./;

/** What the names of some of AWS's regions begin with, and where those stand. */
const DOMAINS: readonly (readonly [string, string])[] = [
  ["cn-", "amazonaws.com.cn"],
  ["eusc-", "amazonaws.eu"],
];

/** The address of Bedrock in a region. */
export function bedrockAddress(region: string): string {
  const domain = DOMAINS.find(([begins]) => region.startsWith(begins))?.[1] ?? "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}`;
}
