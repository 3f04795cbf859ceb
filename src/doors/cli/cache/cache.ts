import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import {
  attribute,
  attributionTotals,
  confirms,
  prewarming,
  rulesOf,
  type SeenRequest,
} from "../../../app/entry/costs.ts";
import type { App, TurnRecord } from "../../../app.ts";
import { TEXT_API } from "../../../features/texts/index.ts";
import {
  layerId,
  type ModelRef,
  type Request,
  StrataError,
  shownTools,
  type ThreadId,
  threadId,
  type Usage,
} from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { showProgress } from "../shell/progress.ts";
import { inRecord } from "../shell/session.ts";
import {
  attributionJson,
  attributionView,
  type Change,
  type ExplainedRequest,
  type Explanation,
} from "./cache-causes.ts";
import { declareCompare } from "./cache-compare.ts";
import { seer } from "./seer.ts";

/** `strata cache …`: what a provider's cache does with requests. `npm run bench -- wire` compares layouts. */
export function declareCache(program: Command, context: Context): void {
  const cache = program
    .command("cache")
    .description(
      "explain what a thread cost, how much of it a provider's cache could have saved, and what another setting would have cost",
    )
    .addHelpText("after", "\nExample:\n  $ strata cache explain thr_01jd8k3v5x9m2q7r4t6w8y0zab");
  declareExplain(cache, context);
  declareCompare(cache, context);
}

/** Declares `strata cache explain <thread>`: the cost of each request, compared with the lowest possible cost, and the reason. */
function declareExplain(cache: Command, context: Context): void {
  cache
    .command("explain")
    .description(
      "show for each request of a thread what was predicted and billed, and why tokens were not read from the cache",
    )
    .argument("<thread>", "a thread (thr_…); `strata explain` lists them")
    .addHelpText("after", "\nExample:\n  $ strata cache explain thr_01jd8k3v5x9m2q7r4t6w8y0zab")
    .action((id: string, _options: unknown, command: Command) => {
      const thread = threadId(id);
      return inRecord(context, command, async ({ app, json }) => {
        const explanation = await explained(context, app, thread);
        if (json) context.json(attributionJson(explanation));
        else context.say(...attributionView(explanation, context.style));
      });
    });
}

/** @throws StrataError `thread_not_found`; `invalid_input` if nothing was sent; `record_broken`; `turn_cancelled` */
async function explained(context: Context, app: App, thread: ThreadId): Promise<Explanation> {
  const turns = await app.runtime.turns(app.operator, thread);
  const paired = await sentIn(context, app, turns);
  if (paired.length === 0)
    throw new StrataError(
      "invalid_input",
      `${thread} has sent no request yet; use \`strata chat\` or \`strata replay\``,
    );
  const answered = paired.filter(({ record }) => record.reply !== null);
  const models = [...new Set(answered.map(({ model }) => model))];
  // Each model has a separate cache.
  const parts = await Promise.all(
    models.map((model) =>
      ofModel(
        app,
        model,
        answered.filter((one) => one.model === model),
      ),
    ),
  );
  const requests = parts.flat().toSorted((a, b) => a.seq - b.seq || a.n - b.n);
  const cards = models.map((model) => app.cardOf(model));
  return {
    thread,
    models,
    silent: [...new Set(answered.filter(isSilent).map(({ model }) => model))],
    keepNothing: models.filter((model) => app.cardOf(model).cache === "none"),
    priced: cards.every(({ priced }) => priced),
    requests,
    unanswered: paired.length - answered.length,
    predictedNow: answered.filter(({ record }) => record.prediction === undefined).length,
    totals: attributionTotals(requests),
    // Each model has its own rules.
    prewarming: models.flatMap((model, i) => {
      const would = prewarming(parts[i] ?? [], rulesOf(app.cardOf(model)));
      return would === undefined ? [] : [{ model, ...would }];
    }),
  };
}

/** One request as recorded, and as a cache sees it. */
interface CachedRequest {
  readonly turn: TurnRecord;
  readonly record: TurnRecord["requests"][number];
  readonly seen: SeenRequest;
  readonly model: ModelRef;
}

/** The recorded requests, as they were compiled. @throws StrataError `turn_cancelled` */
async function sentIn(context: Context, app: App, turns: readonly TurnRecord[]): Promise<readonly CachedRequest[]> {
  const all = turns.flatMap((turn) => turn.requests.map((record) => ({ turn, record })));
  const seeing = seer(app);
  const progress = showProgress(context, "explain");
  const sent: CachedRequest[] = [];
  try {
    for (const { turn, record } of all) {
      sent.push({ turn, record, ...(await seeing(turn, record)) });
      progress.show(`${sent.length} of ${all.length} requests`, sent.length / all.length);
      // A long work lets others in, and ends when it is asked to.
      await setImmediate();
      if (context.terminal.signal.aborted)
        throw new StrataError("turn_cancelled", "stopped before all requests were read");
    }
  } finally {
    progress.end();
  }
  return sent;
}

async function ofModel(
  app: App,
  model: ModelRef,
  sent: readonly CachedRequest[],
): Promise<readonly ExplainedRequest[]> {
  const card = app.cardOf(model);
  const found = attribute(
    sent.map(({ seen }) => seen),
    rulesOf(card),
    {
      billed: sent.map(reported),
      predicted: sent.map(({ record }) => record.prediction),
      epochs: sent.map(({ record: { epoch, ledger } }) => ({ ...ledger.epoch, n: epoch })),
      inputPrice: card.price.input,
    },
  );
  const explaining = sent.map(async (one, at): Promise<readonly ExplainedRequest[]> => {
    const attributed = found[at];
    if (attributed === undefined) return [];
    const { turn, record } = one;
    const before = attributed.differs && attributed.base && sent[attributed.base.n];
    const change = before && (await changeBetween(app, before, one));
    const { refused } = record.ledger;
    const where = { turn: turn.id, seq: turn.seq, n: record.n, model };
    const diagnosis = record.reply?.diagnosis;
    const confirmed = diagnosis && confirms(diagnosis, attributed, one.seen);
    const provider = { ...(diagnosis && { diagnosis }), ...(confirmed !== undefined && { confirmed }) };
    return [{ ...attributed, ...where, ...provider, ...(refused && { refused }), ...(change && { change }) }];
  });
  return (await Promise.all(explaining)).flat();
}

/** Whether a provider reported it; a rehearsal or a recording invents its figures. */
function reported({ turn, record }: CachedRequest): Usage | undefined {
  if (turn.model !== turn.wire || record.reply?.estimated !== undefined) return undefined;
  // A provider that reports nothing about its cache may still have read it.
  return record.reply?.usage.cacheUnknown ? undefined : record.reply?.usage;
}

const isSilent = ({ turn, record }: CachedRequest): boolean =>
  turn.model === turn.wire && record.reply?.usage.cacheUnknown === true && record.reply.usage.input > 0;

async function changeBetween(app: App, before: CachedRequest, now: CachedRequest): Promise<Change | undefined> {
  const [was = [], is = []] = await Promise.all(
    [before, now].map(async ({ turn, record }) => {
      const { request } = await app.runtime.rebuilt(app.operator, turn.id, record.n);
      return sectionsOf(request);
    }),
  );
  const at = is.findIndex(({ text }, index) => text !== was[index]?.text);
  const [old, fresh] = [was[at], is[at]];
  if (fresh === undefined) return undefined;
  // A block holds several layers: those that stay as they were are not meant.
  const same = new Set(old?.holds.map(({ version }) => version));
  const changed = fresh.holds.filter(({ version }) => !same.has(version));
  const names = (changed.length > 0 ? changed : fresh.holds).map(({ name }) => name);
  const edits = await editsOf(app, now, names);
  const byte = sameBytes(old?.text ?? "", fresh.text);
  return { section: names.join(" + "), byte, ...(edits.length > 0 && { edits }) };
}

/** Which version of these layers the request holds, and who wrote it; nothing of those that are as declared. */
async function editsOf(
  app: App,
  { turn, record }: CachedRequest,
  names: readonly string[],
): Promise<NonNullable<Change["edits"]>> {
  const edited = record.ledger.entries.filter(({ section, edited }) => names.includes(section) && edited !== undefined);
  const found = edited.map(async ({ section, edited: n = 0 }) => {
    const choice = { layer: layerId(section), before: n + 1, limit: 1 };
    const versions = await app.runtime.use(TEXT_API).textVersions(app.operator, turn.scope.agent, choice);
    return versions.map(({ layer, n: version, by, byId }) => ({ layer, version, by, ...(byId && { byId }) }));
  });
  return (await Promise.all(found)).flat();
}

/** A text of a request, and what it holds. */
interface Section {
  readonly text: string;
  readonly holds: readonly { readonly name: string; readonly version: string }[];
}

function sectionsOf({ prefix, messages }: Request): readonly Section[] {
  const whole = (name: string, text: string): Section => ({ text, holds: [{ name, version: text }] });
  return [
    ...shownTools(prefix.tools).map((tool) => whole(tool.name, JSON.stringify(tool))),
    ...prefix.system.map(({ text, layers }) => ({
      text,
      holds: layers.map(({ layer, digest }) => ({ name: layer, version: digest })),
    })),
    ...messages.flatMap(({ parts }) =>
      parts.map((part) => whole("transcript", "text" in part ? part.text : JSON.stringify(part))),
    ),
  ];
}

function sameBytes(was: string, is: string): number {
  const [a, b] = [Buffer.from(was), Buffer.from(is)];
  const strange = a.findIndex((byte, at) => byte !== b[at]);
  return strange < 0 ? a.length : strange;
}
