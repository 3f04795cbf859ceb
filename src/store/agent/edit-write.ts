import { z } from "zod";
import {
  type Digest,
  layerId,
  lowestTrust,
  type NewText,
  ROLES,
  type Source,
  type TextPlace,
  TRUSTS,
  type Trust,
  textName,
  trusted,
  turnId,
  untrusted,
} from "../../protocol/index.ts";
import { writeKind } from "../write-kind.ts";
import { addVersion } from "./edit-texts.ts";

const DIGEST = z.custom<Digest>((value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value));
const KEY = { layer: z.string().transform(layerId), part: z.string().exactOptional() };
// The crossing holds: only the feature that holds the token plans edits, and it has shown the text to the guard.
const TEXT = z.string().transform(trusted);

const PLACE: z.ZodType<TextPlace> = z.strictObject({
  rank: z.number(),
  source: z.custom<Source["kind"]>((value) => typeof value === "string"),
  declared: DIGEST.exactOptional(),
});

const EDIT: z.ZodType<NewText> = z.strictObject({
  ...KEY,
  text: TEXT,
  line: TEXT.exactOptional(),
  status: z.enum(["kept", "proposed"]),
  trust: z.enum(TRUSTS),
  inputs: z.enum(TRUSTS),
  by: z.enum(ROLES),
  turn: z.string().transform(turnId).exactOptional(),
  reason: z.string().transform(untrusted),
  verdict: z.strictObject({ verdict: z.enum(["pass", "review", "reject"]), findings: z.array(z.string()) }),
  parent: z.int(),
  place: PLACE,
  beside: z.array(z.strictObject({ ...KEY, stands: z.int().nullable() })),
});

/** Edits a text of the agent. */
export const EDIT_TEXT = writeKind<{ readonly kind: "edit"; readonly edit: NewText }>({
  kind: "edit",
  schema: z.strictObject({ kind: z.literal("edit"), edit: EDIT }),
  limited: (write, most) => ({ ...write, edit: proposed(write.edit, most) }),
  hidden: (write, hide) => {
    const { text, line, reason } = write.edit;
    const texts = { text: trusted(hide(text)), reason: untrusted(hide(reason)) };
    return { ...write, edit: { ...write.edit, ...texts, ...(line !== undefined && { line: trusted(hide(line)) }) } };
  },
  apply: async (tx, { edit }, { scope, at }) => {
    const { layer, part, n, status } = await addVersion(tx, scope, edit, at);
    if (status === edit.status) return [];
    const message = `another text was changed meanwhile, so version ${n} of ${textName(edit)} waits for an operator: \`strata layer proposals\` shows it`;
    const text = { layer, ...(part !== undefined && { part }), n };
    return [{ what: "overtaken", message, data: { texts: [text] }, isInternal: true }];
  },
});

/** Law 6: an edit has at most the agent's trust, and waits for an operator if its writer had seen what others wrote. */
function proposed(edit: NewText, most: readonly Trust[]): NewText {
  const inputs = lowestTrust([edit.inputs, ...most]);
  const isTainted = lowestTrust([inputs, "agent"]) !== "agent";
  const trust = lowestTrust([edit.trust, "agent"]);
  return { ...edit, by: "agent", trust, inputs, status: isTainted ? "proposed" : edit.status };
}
