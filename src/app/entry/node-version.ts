/**
 * Imported for its effect, and before everything else: in a Node that is too old the rest cannot even be linked, and the user would see an
 * internal stack. So this file imports nothing, and says in one sentence what is needed.
 */

/** The message for a Node that is too old: it neither runs TypeScript directly nor supports hooks that resolve modules. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major >= 24 || (major === 22 && minor >= 18) || (major === 23 && minor >= 6)) return undefined;
  return `Strata needs Node 24, or 22 from 22.18 on, or 23 from 23.6 on, and this is Node ${version}; install Node 24, from https://nodejs.org/en/download or with \`nvm install 24\`, and run the command again`;
}

const versionProblem = tooOld(process.versions.node);
// A stack would only show where it was noticed.
if (versionProblem !== undefined)
  throw Object.assign(new Error(versionProblem), { stack: `strata: ${versionProblem}` });
