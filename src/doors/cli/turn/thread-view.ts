import type { Thread, TurnRecord } from "../../../app.ts";
import { endOf } from "../../../features/turns/index.ts";
import { isoSecond } from "../../../protocol/index.ts";
import { cuts } from "../shell/sent-line.ts";
import { shortVersion } from "../shell/session.ts";
import { setIn } from "../shell/set-in.ts";
import { count, number, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";

const COLUMNS = [
  { head: "turn", right: true },
  { head: "id" },
  { head: "end" },
  { head: "requests", right: true },
  { head: "tokens sent", right: true },
  { head: "cut", least: 8, wraps: true },
  { head: "epoch", least: 8, wraps: true },
] as const;

/** A thread as lines for a person: whose it is, then a row per turn. Tokens are those of all the turn's requests together. */
export function threadView(thread: Thread, turns: readonly TurnRecord[], style: Style): readonly string[] {
  const { scope, channel, createdAt, lastActivity, forkedFrom } = thread;
  const pinned = `pinned to version ${shortVersion(thread.version)} · begun ${isoSecond(createdAt)} · last activity ${isoSecond(lastActivity)}`;
  return [
    ...setIn(
      `${scope.agent} with ${scope.contact} · channel ${channel}`,
      { first: `${style.bold(thread.id)} · `, more: "  " },
      style,
    ),
    ...setIn(pinned, { first: "", more: "  " }, style),
    ...(forkedFrom === undefined ? [] : [`forked from ${forkedFrom.thread}`]),
    "",
    ...(turns.length === 0 ? ["No turn yet."] : table(COLUMNS, turns.map(row), style)),
    "",
    `${count(turns.length, "turn")}; \`strata explain TURN\` shows each piece of its requests.`,
  ];
}

function row(turn: TurnRecord): readonly string[] {
  const ledgers = turn.requests.map((request) => request.ledger);
  const last = ledgers.at(-1);
  const opened = ledgers
    .filter((ledger) => ledger.epoch.opened)
    .map(({ epoch }) => `${epoch.n} begins (${epoch.reason})`);
  const cut = last === undefined ? "" : cuts(last);
  return [
    number(turn.seq),
    turn.id,
    endOf(turn),
    turn.batch === undefined ? number(ledgers.length) : "in a batch",
    number(ledgers.reduce((sum, ledger) => sum + ledger.tokens, 0)),
    cut === "nothing cut" ? "" : cut.replace(/^cut: /, ""),
    [...new Set(opened)].join(", ") || (last === undefined ? "" : number(last.epoch.n)),
  ];
}
