import { MEASURED, type Row } from "./cost.ts";
import { RULE_NAMES, ruleOf } from "./rules.ts";

/** The rules as a table in Markdown, for `docs/lint.md`. */
export function ruleTable(): string {
  const rows = RULE_NAMES.map((name) => {
    const { severity, finds, because, remedy, row } = ruleOf(name);
    return `| \`${name}\` | ${severity} | ${finds} | ${because} | ${row === undefined ? "" : figures(MEASURED[row])} | ${remedy} |`;
  });
  const head = ["| rule | severity | finds | because | measured | remedy |", "|---|---|---|---|---|---|"];
  return [...head, ...rows].join("\n");
}

const figures = ({ what, at50, at200, at200cheap }: Row): string =>
  `${at50} / ${at200} / ${at200cheap ?? "–"} (${what})`;
