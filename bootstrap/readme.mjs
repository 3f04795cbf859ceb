// Around `npm pack`: README.md as it stands in the package, `pack`, and as it was, `restore`. A link to a page that the package does
// not hold becomes that page's name: it would lead nowhere.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [README, KEPT] = [join(root, "README.md"), join(root, "node_modules/.readme-of-the-checkout.md")];
const ELSEWHERE = "\nPages that are named without a link are in the source of Strata.\n";

/** @param {string} page @param {readonly string[]} packed folders and files of the package @returns {string} */
export function packedReadme(page, packed) {
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

function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, README);
}

if (process.argv[2] === "restore") restore();
if (process.argv[2] === "pack") {
  // Whoever packed before may have been stopped in the middle.
  restore();
  const page = readFileSync(README, "utf8");
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(KEPT, page);
  writeFileSync(README, packedReadme(page, files));
}
