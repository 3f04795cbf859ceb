/** A line for people, on stderr: stdout belongs to the command, whose output may be JSON. @param {string} line */
export function say(line) {
  process.stderr.write(`strata: ${line}\n`);
}

/** Ends the bootstrap with a sentence instead of a stack trace. */
export class Stop extends Error {}
