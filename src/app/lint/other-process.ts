/**
 * The other process of lint: it loads the project again, under another clock, time zone or language, and reports what each agent's first
 * requests are made of. `worlds.ts` starts it and talks to it over its channel only.
 */

import { asStrataError, type ModelRef } from "../../protocol/index.ts";
import { openSqlite } from "../../store/index.ts";
import { type RenderVariant, type SentSection, sentSections } from "../../wire/index.ts";
import { declaredBy } from "../declare.ts";
import { allParts, operationAccess } from "../entry/features.ts";
import type { PlacedOptions } from "../options.ts";
import { projectsOf } from "../projects.ts";
import { counterFor, renderIn } from "./render.ts";

/** The request to the child. */
export interface RenderRequest {
  readonly options: Pick<PlacedOptions, "folder" | "data" | "env" | "mustDeclare">;
  readonly world: RenderVariant;
  readonly model?: ModelRef;
}

async function renderRequest({
  options,
  world,
  model,
}: RenderRequest): Promise<Record<string, readonly (readonly SentSection[])[]>> {
  if (world.at !== undefined) moveClock(world.at);
  const store = await openSqlite(":memory:", { parts: await allParts() });
  const declared = await declaredBy(projectsOf(options), options, {
    store,
    operations: await operationAccess(() => undefined),
  });
  const found: Record<string, readonly (readonly SentSection[])[]> = {};
  for (const agent of declared.agents) {
    const shown = model ?? declared.wireOf(agent);
    const count = await counterFor(declared, shown);
    const { requests } = await renderIn(world, { declared, agent, model: shown, count });
    found[agent.name] = requests.map(sentSections);
  }
  return found;
}

/** Before any module of the operator's is loaded: a date that is made without a value is made at that time. */
function moveClock(at: number): void {
  const shift = at - Date.now();
  const now = (): number => Real.now() + shift;
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, type) => Reflect.construct(target, given.length === 0 ? [now()] : given, type),
    apply: () => new Real(now()).toString(),
    get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
  });
}

process.once("message", (asked: RenderRequest) => {
  const send = (said: object): void => void process.send?.(said, () => process.exit(0));
  renderRequest(asked).then(
    (agents) => send({ agents }),
    (thrown: unknown) => {
      const { code, message } = asStrataError(thrown);
      send({ failed: { code, message } });
    },
  );
});

// The parent is gone: the answer is no longer needed.
process.once("disconnect", () => process.exit(0));
