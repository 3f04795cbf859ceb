/** Settings of a conversation: small settings from outside that decide how its agent works there. */

import { z } from "zod";
import { ago, printable, table } from "../../print/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, list } from "../fields.ts";
import { operation } from "../operation.ts";
import { SETTING, SETTING_API, type SettingView, settingApi, settingSteps } from "./api.ts";
import { KEYS } from "./config.ts";
import { SETTING_STORE } from "./store.ts";

export { declaredSettings, SETTING_API, type SettingApi, settingChanges } from "./api.ts";
export { SETTING_STORE } from "./store.ts";

const ONE = z.strictObject({ id: FIELDS.thread });
const NAME = z.string().min(1).max(64).describe("which setting");
const ID = "thr_01jd8k3v5x9m2q7r4t6w8y0zab";

const listSettings = operation({
  name: "setting.list",
  does: "List the settings that a conversation's agent declares, with what they are set to there.",
  may: "read",
  at: "GET /v1/threads/{id}/settings",
  takes: ONE,
  gives: z.object({ settings: list(SETTING) }),
  list: "settings",
  command: { words: ["id"], examples: [`setting list ${ID}`], opens: "record to run" },
  run: async ({ runtime }, { id }, { actor }) => ({ settings: await runtime.use(SETTING_API).settings(actor, id) }),
  show: ({ settings: found }, { style, world }) => settingLines(found, world.clock.real(), style),
});

const set = operation({
  name: "setting.set",
  does: "Set a setting of a conversation, such as its thinking level, from its next turn on.",
  may: "post",
  at: "POST /v1/threads/{id}/settings/{name}",
  takes: ONE.extend({ name: NAME, value: z.string().max(20_000).describe("its value: one of its choices, or a text") }),
  gives: SETTING,
  command: { words: ["id", "name", "value"], examples: [`setting set ${ID} thinking high`], opens: "record to run" },
  run: ({ runtime }, { id, name, value }, { actor }) => runtime.use(SETTING_API).setSetting(actor, id, { name, value }),
  show: ({ name, value }, { given: { id } }) => [`${name} is ${shownValue(value)} on ${id} from the next turn on.`],
});

const unset = operation({
  name: "setting.unset",
  does: "Take a setting of a conversation back to its default, from its next turn on.",
  may: "post",
  at: "DELETE /v1/threads/{id}/settings/{name}",
  takes: ONE.extend({ name: NAME }),
  gives: SETTING,
  command: { words: ["id", "name"], examples: [`setting unset ${ID} thinking`], opens: "record to run" },
  run: ({ runtime }, { id, name }, { actor }) => runtime.use(SETTING_API).setSetting(actor, id, { name, value: null }),
  show: ({ name, value }, { given: { id } }) => [`${name} is ${shownValue(value)} on ${id} from the next turn on.`],
});

export const FEATURE: Feature = {
  name: "settings",
  keys: KEYS,
  store: SETTING_STORE,
  steps: settingSteps,
  operations: [listSettings, set, unset],
  open: () => ({ api: ({ parts }) => SETTING_API.open(settingApi(parts)) }),
};

const COLUMNS = [{ head: "setting" }, { head: "value" }, { head: "set" }, { head: "may be" }] as const;

/** How much of a text is shown in a line. */
const SHOWN = 60;

const shownValue = (value: string | null): string =>
  value === null ? "not set" : printable(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);

/** The settings' values, who set them, and the choices. */
export function settingLines(
  found: readonly SettingView[],
  now: number,
  style: Parameters<typeof table>[2],
): readonly string[] {
  if (found.length === 0) return ["The agent declares no `settings` in strata.yaml."];
  const rows = found.map(({ name, value, by, at, choices, maxLength = 0 }) => [
    name,
    shownValue(value),
    at === undefined ? "by default" : `${ago(now - at)} by ${by}`,
    choices?.join(", ") ?? `a text of at most ${maxLength} characters`,
  ]);
  return table(COLUMNS, rows, style);
}
