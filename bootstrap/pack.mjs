// Around `npm pack`: files that differ in the package, `pack`, and as they were, `restore`. In README.md, a link to a page that the package
// does not hold becomes that page's name: it would lead nowhere. The schema, which only programs read, has no line breaks.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ELSEWHERE = "\nPages that are named without a link are in the source of Strata.\n";

/** @param {string} page @param {readonly string[]} packed folders and files of the package @returns {string} */
function packedReadme(page, packed) {
  const isPacked = (/** @type {string} */ target) =>
    /^(#|\w+:)/.test(target) || [...packed, "LICENSE"].some((one) => target === one || target.startsWith(`${one}/`));
  const links = /\[([^\]]+)\]\(([^()\s]+)\)/g;
  const told = page.replace(links, (link, /** @type {string} */ text, /** @type {string} */ target) => {
    if (isPacked(target)) return link;
    const name = `\`${target}\``;
    return text === target || text === name ? name : `${text} (${name})`;
  });
  return told === page ? page : told + ELSEWHERE;
}

/** The files that differ in the package, by their path. @returns {ReadonlyMap<string, string>} */
export function packedFiles() {
  const textOf = (/** @type {string} */ path) => readFileSync(join(root, path), "utf8");
  const { files } = JSON.parse(textOf("package.json"));
  const schema = "schema/strata.schema.json";
  return new Map([
    ["README.md", packedReadme(textOf("README.md"), files)],
    [schema, JSON.stringify(JSON.parse(textOf(schema)))],
  ]);
}

const keptAt = (/** @type {string} */ path) => join(root, "node_modules", `.of-the-checkout-${basename(path)}`);

function restore() {
  for (const path of packedFiles().keys()) if (existsSync(keptAt(path))) renameSync(keptAt(path), join(root, path));
}

if (process.argv[2] === "restore") restore();
if (process.argv[2] === "pack") {
  // Whoever packed before may have been stopped in the middle.
  restore();
  for (const [path, text] of packedFiles()) {
    writeFileSync(keptAt(path), readFileSync(join(root, path)));
    writeFileSync(join(root, path), text);
  }
}
