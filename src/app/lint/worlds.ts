import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type AgentName, StrataError } from "../../protocol/index.ts";
import {
  perturb,
  type Render,
  type RenderVariant,
  type SentSection,
  sentSections,
  TOGETHER,
  type Unstable,
  WORLDS,
} from "../../wire/index.ts";
import type { RenderRequest } from "./other-process.ts";
import { type Rendering, renderIn } from "./render.ts";

/** The sections of each agent's first requests. */
type Sections = ReadonlyMap<string, readonly (readonly SentSection[])[]>;

/** Asks other processes, each world once, whatever number of agents want to know. */
export function otherProcesses(asked: Omit<RenderRequest, "world">): (world: RenderVariant) => Promise<Sections> {
  const known = new Map<string, Promise<Sections>>();
  return (world) => {
    const sections = known.get(world.name) ?? inChild({ ...asked, world });
    known.set(world.name, sections);
    return sections;
  };
}

/**
 * Which sections of the agent's first requests are not the same in every world. First everything is changed at once; only if something
 * differs is each world tried separately, to find which one causes it.
 * @param elsewhere asks another process; absent if the project has no code that another start could change
 */
export async function unstableSections(
  rendering: Rendering,
  elsewhere: ((world: RenderVariant) => Promise<Sections>) | undefined,
): Promise<readonly Unstable[]> {
  const { name } = rendering.agent;
  const render: Render = async (world) =>
    world.fresh && elsewhere !== undefined
      ? sectionsOf(name, await elsewhere(world))
      : (await renderIn(world, rendering)).requests.map(sentSections);
  const together = await perturb(render, TOGETHER);
  if (together.length === 0) return [];
  // A change caused by another render or load alone needs no further cause.
  const bare = await perturb(render, WORLDS.slice(0, WITHOUT_SETTINGS));
  if (together.every(({ section }) => bare.some((one) => one.section === section))) return bare;
  if (elsewhere !== undefined) await Promise.all(WORLDS.filter(({ fresh }) => fresh).map(elsewhere));
  const apart = await perturb(render);
  return apart.length === 0 ? together : apart;
}

/** The first of the worlds: rendered again, loaded again. */
const WITHOUT_SETTINGS = 2;

function sectionsOf(name: AgentName, sections: Sections): readonly (readonly SentSection[])[] {
  const found = sections.get(name);
  if (found === undefined) throw secondLoadFailed(`it declares no agent ${name} when it is loaded again`);
  return found;
}

const CHILD = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url));

const ANSWER = z.union([
  z.object({ agents: z.record(z.string(), z.array(z.array(z.object({ section: z.string(), text: z.string() })))) }),
  z.object({ failed: z.object({ code: z.string(), message: z.string() }) }),
]);

function inChild(asked: RenderRequest): Promise<Sections> {
  const { timezone, locale } = asked.world;
  const env = {
    ...process.env,
    ...(timezone !== undefined && { TZ: timezone }),
    ...(locale !== undefined && { LC_ALL: locale, LANG: locale }),
  };
  const child = fork(CHILD, [], { env, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  return new Promise((resolve, reject) => {
    child.once("message", (said) => {
      const answer = ANSWER.parse(said);
      if ("agents" in answer) resolve(new Map(Object.entries(answer.agents)));
      else reject(secondLoadFailed(answer.failed.message));
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(secondLoadFailed(`its process ended with ${code ?? "a signal"} before it answered`)),
    );
    child.send(asked);
  });
}

const secondLoadFailed = (why: string): StrataError =>
  new StrataError(
    "module_failed",
    `the project cannot be loaded a second time: ${why}; fix what depends on the first load`,
  );
