/** The texts of an agent that people and the agent itself may edit: layers, the soul and skills, with their versions and proposals. */

import type { Feature } from "../feature.ts";
import { SKILL_API } from "../skills/index.ts";
import { textApi } from "./api.ts";
import { TEXT_API } from "./api-types.ts";
import { KEYS } from "./config.ts";
import { LAYER_OPERATIONS } from "./layers.ts";
import { SKILL_OPERATIONS } from "./skills.ts";
import { promptTools } from "./tools.ts";

export * from "./api-types.ts";
export { checkedReason, standsAlready, textRefused, versionOf } from "./check-text.ts";
export { layerViews, passedOver } from "./layer-views.ts";
export { HISTORY, textHistory } from "./layers.ts";
export {
  editedTextLines,
  LAYER,
  MOVE,
  moveLines,
  PASSED_OVER,
  PROPOSAL,
  passedOverLines,
  TEXT_ORIGIN,
  type TextOrigin,
  VERSION,
  versionLines,
  waitingTextLines,
} from "./lines.ts";
export { promptTools } from "./tools.ts";

export const FEATURE: Feature = {
  name: "texts",
  needs: ["skills"],
  keys: KEYS,
  tools: promptTools,
  operations: [...LAYER_OPERATIONS, ...SKILL_OPERATIONS],
  open: () => ({ api: ({ parts, use }) => TEXT_API.open(textApi(parts, use(SKILL_API).withFolderSkills)) }),
};
