/** Memory blocks: what an agent holds to be true in all conversations, by label. Only a tool shows them to it. */

import type { Feature } from "../feature.ts";
import { BLOCK_API, blockApi } from "./api.ts";
import { BLOCK_OPERATIONS } from "./operations.ts";
import { blockTools } from "./tools.ts";

export { BLOCK_API, type BlockApi, type BlockProposal, type NewBlock } from "./api.ts";
export type { Block, BlockName } from "./blocks.ts";

export const FEATURE: Feature = {
  name: "blocks",
  needs: ["memories", "texts"],
  tools: ({ store }) => blockTools(store),
  operations: BLOCK_OPERATIONS,
  open: () => ({ api: ({ parts }) => BLOCK_API.open(blockApi(parts)) }),
};
