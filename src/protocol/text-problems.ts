import { never, StrataError } from "./errors.ts";
import type { AgentName } from "./ids.ts";
import type { TextKey, TextStatus, VersionKey } from "./text-version.ts";

/** A text, in a sentence. */
export const textName = ({ layer, part }: TextKey): string =>
  part === undefined ? `the layer ${layer}` : `the skill ${part}`;

/** Says why the state of a version does not permit the request. */
export function textDecided(agent: AgentName, version: VersionKey & { readonly status: TextStatus }): StrataError {
  const { layer, part, n, status } = version;
  const texts = `GET /v1/agents/${agent}/layers/${layer}/history${part === undefined ? "" : `?skill=${part}`}`;
  const looks = `\`strata layer history ${layer}${part === undefined ? "" : ` --skill ${part}`}\` or \`${texts}\``;
  const message = `version ${n} of ${textName(version)} of ${agent} ${whatBecame(status, looks)}`;
  return new StrataError("text_decided", message, { layer, ...(part !== undefined && { part }), agent, n, status });
}

/** @param looks where all versions and their history are shown */
function whatBecame(status: TextStatus, looks: string): string {
  switch (status) {
    case "kept":
      return `is already decided, or never waited for anybody; ${looks} shows what waits and what is active`;
    case "proposed":
      return "still waits: approve or reject it";
    case "superseded":
      return `no longer waits, because a newer proposal replaced it; \`strata layer proposals\` or ${looks} shows that one`;
    case "rejected":
      return "was rejected; to use its text, write it again";
    default:
      return never(status);
  }
}

/** A proposal, and the version that it should replace, if somebody named one. */
interface Approving extends VersionKey {
  readonly parent: number;
  readonly over?: number | undefined;
}

/** Says that another text is active now than the one that a proposal was written for, so that whoever approves it knows what it replaces. */
export function textOvertaken(agent: AgentName, version: Approving, active: number): StrataError {
  const { layer, part, n, parent } = version;
  const skill = part === undefined ? "" : ` --skill ${part}`;
  const query = `from=${active}&to=${n}${part === undefined ? "" : `&part=${part}`}`;
  const both = `\`strata layer diff ${layer} ${active} ${n}${skill}\` or \`GET /v1/agents/${agent}/layers/${layer}/diff?${query}\``;
  const next = `compare the two with ${both}, then approve it with \`--over ${active}\` or \`"over": ${active}\`, or reject it`;
  const message = `version ${n} of ${textName(version)} ${isOver(version, active)}; ${next}`;
  return new StrataError("text_decided", message, {
    layer,
    ...(part !== undefined && { part }),
    agent,
    parent,
    active,
  });
}

function isOver({ parent, over }: Approving, active: number): string {
  const now = `but version ${active} is now active`;
  if (over !== undefined) return `was meant to replace version ${over}, ${now}`;
  if (parent !== active) return `was written for version ${parent}, ${now}`;
  return "was written for another declared text than the one that is now active";
}
