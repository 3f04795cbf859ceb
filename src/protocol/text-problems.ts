import { never, StrataError } from "./errors.ts";
import type { AgentName } from "./ids.ts";
import type { TextKey, TextStatus, VersionKey } from "./text-version.ts";

/** A text, in a sentence. */
export const textName = ({ layer, part }: TextKey): string =>
  part === undefined ? `the layer ${layer}` : `the skill ${part}`;

/** That a version is in no state for what was asked. */
export function textDecided(agent: AgentName, version: VersionKey & { readonly status: TextStatus }): StrataError {
  const { layer, part, n, status } = version;
  const message = `version ${n} of ${textName(version)} of ${agent} ${whatBecame(status)}`;
  return new StrataError("text_decided", message, { layer, ...(part !== undefined && { part }), agent, n, status });
}

function whatBecame(status: TextStatus): string {
  switch (status) {
    case "kept":
      return "was decided already, or never waited for anybody";
    case "proposed":
      return "still waits: approve or reject it";
    case "superseded":
      return "waits no more, for a newer proposal took its place; look at that one with `strata layer proposals`";
    case "rejected":
      return "was rejected; what it says can only be written anew";
    default:
      return never(status);
  }
}

/** That another text is active by now than a proposal was written over: whoever approves it knows what it takes the place of. */
export function textOvertaken(
  agent: AgentName,
  version: VersionKey & { readonly parent: number },
  active: number,
): StrataError {
  const { layer, part, n, parent } = version;
  const over =
    parent === active
      ? "another declared text than the one that is active by now"
      : `version ${parent}, and version ${active} is active by now`;
  const skill = part === undefined ? "" : ` --skill ${part}`;
  const next = `compare the two with \`strata layer diff ${layer} ${active} ${n}${skill}\`, then approve it with \`--over ${active}\`, or reject it`;
  const message = `version ${n} of ${textName(version)} was written over ${over}; ${next}`;
  return new StrataError("text_decided", message, {
    layer,
    ...(part !== undefined && { part }),
    agent,
    parent,
    active,
  });
}
