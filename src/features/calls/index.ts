/** Calls whose answers come later: their time runs out, and the runs that wait for them go on, without anybody asking for it. */
import { type Agent, asStrataError } from "../../protocol/index.ts";
import type { Due, Job, JobWorld, Notice, Task } from "../../work/index.ts";
import type { Feature } from "../feature.ts";

const over = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.flatMap((one) => one ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
};

const eachAgent = async (world: JobWorld, due: (world: JobWorld, agent: Agent) => Promise<Due>): Promise<Due> => {
  const found = await Promise.all(world.runtime.agents(world.operator).map((agent) => due(world, agent)));
  return { tasks: found.flatMap(({ tasks }) => tasks), next: over(found.map(({ next }) => next)) };
};

/** Answers each open call that has timed out, so that its run goes on without the answer. */
const overdue: Job = {
  name: "calls.overdue",
  due: (world) =>
    eachAgent(world, async ({ runtime, operator, clock }, { name }) => {
      const next = await runtime.nextOverdue(operator, name);
      if (next === undefined || next > clock.real()) return { tasks: [], next };
      const task: Task = {
        agent: name,
        key: `overdue calls of ${name}`,
        trouble: `Overdue calls of ${name} were not answered`,
        async *run(): AsyncGenerator<Notice> {
          await runtime.answerOverdue(operator, name);
          yield { about: `overdue calls of ${name}`, message: "", isOver: true };
        },
      };
      return { tasks: [task] };
    }),
};

/** Runs the turns that answer another turn's call, and those that go on with the answers. */
const runs: Job = {
  name: "calls.runs",
  due: (world) =>
    eachAgent(world, async ({ runtime, operator }, { name }) => {
      const threads = await runtime.dueRuns(operator, name);
      return {
        tasks: threads.map(
          (thread): Task => ({
            agent: name,
            contact: thread.scope.contact,
            key: thread.id,
            trouble: `A run of ${name} did not go on`,
            async *run(signal): AsyncGenerator<Notice> {
              try {
                for await (const event of runtime.runDue(operator, thread, { signal }))
                  if (event.type === "failed") throw event.error;
                yield { about: `the run on ${thread.id}`, message: "", isOver: true };
              } catch (thrown) {
                const { code, traits } = asStrataError(thrown);
                // Another program runs it, or a person has stopped it.
                const isQuiet = traits.isPause || code === "thread_busy" || code === "turn_cancelled";
                if (!signal.aborted && !isQuiet) throw thrown;
              }
            },
          }),
        ),
      };
    }),
};

export const FEATURE: Feature = { name: "calls", operations: [], jobs: [overdue, runs] };
