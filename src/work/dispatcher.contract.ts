import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { agentName, contactId } from "../protocol/index.ts";
import type { Dispatcher, DispatcherParts } from "./dispatcher.ts";
import type { Due, Job, Notice, Task } from "./job.ts";

/** Makes a dispatcher of the kind that is tried. */
export type OpenDispatcher = (parts: DispatcherParts<undefined>) => Dispatcher;

/** Time that passes when the test says so. */
function handClock() {
  const waiting = new Set<{ readonly at: number; readonly act: () => void }>();
  let at = 1_000_000;
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await setImmediate();
  };
  return {
    clock: { real: () => at },
    after: (milliseconds: number, act: () => void) => {
      const one = { at: at + milliseconds, act };
      waiting.add(one);
      return () => void waiting.delete(one);
    },
    settle,
    /** Lets this many milliseconds pass, each timer at its time. */
    pass: async (milliseconds: number): Promise<void> => {
      const end = at + milliseconds;
      await settle();
      for (;;) {
        const [next] = [...waiting].filter((one) => one.at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        waiting.delete(next);
        at = Math.max(at, next.at);
        next.act();
        await settle();
      }
      at = end;
    },
  };
}

/** A job whose tasks are there until they have begun, and what happened to them. */
function post(name = "test.post") {
  const waiting: Task[] = [];
  const begun: string[] = [];
  const ended: string[] = [];
  let next: number | undefined;
  let looks = 0;
  const add = (agent: string, key: string, work: (signal: AbortSignal) => Promise<void> = async () => undefined) => {
    const task: Task = {
      agent: agentName(agent),
      key,
      trouble: "A letter was not brought",
      run: async function* (signal): AsyncGenerator<Notice> {
        waiting.splice(waiting.indexOf(task), 1);
        begun.push(key);
        await work(signal);
        ended.push(key);
        yield { about: key, message: "", isOver: true };
      },
    };
    waiting.push(task);
  };
  const due = async (): Promise<Due> => {
    looks++;
    return { tasks: [...waiting], next };
  };
  return {
    job: { name, due } as Job<undefined>,
    add,
    begun,
    ended,
    at: (time: number) => (next = time),
    looks: () => looks,
  };
}

/** What every dispatcher keeps. */
export function dispatcherContract(open: OpenDispatcher): void {
  const opened = (jobs: readonly Job<undefined>[], sideBySide?: number) => {
    const timers = handClock();
    const told: string[] = [];
    const most = sideBySide === undefined ? {} : { sideBySide };
    const dispatcher = open({ jobs, world: undefined, timers, tell: (message) => void told.push(message), ...most });
    return { ...timers, told, dispatcher };
  };
  const held = () => Promise.withResolvers<void>();

  describe("what is due", () => {
    it("is begun at the start, when something happens, at its time, and else at the next look", async () => {
      const { job, add, begun, at } = post();
      add("ann", "at the start");
      const { dispatcher, settle, pass, clock } = opened([job]);
      await settle();
      add("ann", "woken");
      await settle();
      expect(begun).toEqual(["at the start"]);
      dispatcher.wake();
      await settle();
      expect(begun).toEqual(["at the start", "woken"]);
      at(clock.real() + 700);
      dispatcher.wake();
      await settle();
      add("ann", "at its time");
      await pass(699);
      expect(begun).toHaveLength(2);
      await pass(1);
      expect(begun.at(-1)).toBe("at its time");
      add("ann", "by another program");
      await pass(60_000);
      expect(begun.at(-1)).toBe("by another program");
      await dispatcher.close();
    });

    it("of one key is done one after the other in its order, also of two jobs, while others continue", async () => {
      const [letters, orders] = [post("letters"), post("orders")];
      const [first, second] = [held(), held()];
      letters.add("ann", "thread", () => first.promise);
      letters.add("ann", "thread", () => second.promise);
      orders.add("bob", "thread");
      letters.add("ann", "another");
      const { dispatcher, settle } = opened([letters.job, orders.job]);
      await settle();
      expect([letters.begun, letters.ended, orders.begun]).toEqual([["thread", "another"], ["another"], []]);
      first.resolve();
      await settle();
      // The other agent was served longer ago.
      expect(orders.ended).toEqual(["thread"]);
      expect([letters.begun, letters.ended]).toEqual([
        ["thread", "another", "thread"],
        ["another", "thread"],
      ]);
      second.resolve();
      await dispatcher.close();
    });

    it("of a thousand tasks of one agent keeps no other agent waiting, and no more run than may", async () => {
      const { job, add, begun } = post();
      const order: string[] = [];
      let [now, most] = [0, 0];
      const work = (agent: string) => async () => {
        order.push(agent);
        most = Math.max(most, ++now);
        await setImmediate();
        now--;
      };
      for (let i = 0; i < 1_000; i++) add("ann", `ann ${i}`, work("ann"));
      for (let i = 0; i < 3; i++) add("bob", `bob ${i}`, work("bob"));
      const { dispatcher, settle } = opened([job], 2);
      await settle();
      expect(order.slice(0, 6).sort()).toEqual(["ann", "ann", "ann", "bob", "bob", "bob"]);
      expect(most).toBe(2);
      expect(begun.length).toBeLessThan(1_003);
      await dispatcher.close();
    });

    it("27.9 of one contact keeps no other contact of the agent waiting for more than one task", async () => {
      const order: string[] = [];
      const tasks = ["ann", "ann", "ann", "ann", "bob", "ann", "bob"].map((contact, i) => ({
        agent: agentName("clerk"),
        contact: contactId(contact),
        key: `${i}`,
        trouble: "A letter was not brought",
        async *run(): AsyncGenerator<Notice> {
          waiting.delete(this);
          order.push(contact);
          await setImmediate();
          yield { message: "" };
        },
      }));
      const waiting = new Set<Task>(tasks);
      const { dispatcher, settle } = opened([{ name: "letters", due: async () => ({ tasks: [...waiting] }) }], 1);
      await settle();
      dispatcher.wake();
      await settle();
      expect(order.slice(0, 5)).toEqual(["ann", "bob", "ann", "bob", "ann"]);
      await dispatcher.close();
    });

    it("is not looked for more often than a job that costs much says", async () => {
      const { job, looks } = post();
      const { dispatcher, settle, pass } = opened([{ ...job, every: 60_000 }]);
      await settle();
      for (let i = 0; i < 9; i++) dispatcher.wake();
      await pass(59_000);
      expect(looks()).toBe(1);
      await pass(6_000);
      expect(looks()).toBe(2);
      await dispatcher.close();
    });
  });

  describe("a task that throws", () => {
    it("stops no other, is told once, and is tried again after pauses that grow", async () => {
      const tries: number[] = [];
      const timers = handClock();
      const told: string[] = [];
      const fails: Task = {
        agent: agentName("ann"),
        key: "fails",
        trouble: "A letter was not brought",
        run: async function* () {
          tries.push(timers.clock.real());
          if (tries.length < 4) throw new Error("the line is dead");
          yield { about: "the line", message: "", isOver: true };
        },
      };
      const others = post("others");
      const job = { name: "letters", due: async () => ({ tasks: tries.length < 4 ? [fails] : [] }) };
      const tell = (message: string): void => void told.push(message);
      const dispatcher = open({ jobs: [job, others.job], world: undefined, timers, tell });
      await timers.settle();
      others.add("ann", "goes on");
      dispatcher.wake();
      await timers.settle();
      expect([tries.length, others.ended]).toEqual([1, ["goes on"]]);
      await timers.pass(120_000);
      const pauses = tries.slice(1).map((at, i) => at - (tries[i] ?? 0));
      expect(tries).toHaveLength(4);
      expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
      expect(pauses[2]).toBeGreaterThan(pauses[0] ?? 0);
      expect(told).toEqual(["A letter was not brought: the line is dead"]);
      await dispatcher.close();
    });

    it("or a look that throws or hangs stops no other job", async () => {
      const good = post("good");
      const bad = { name: "bad", due: () => Promise.reject(new Error("no table")) };
      const mute = { name: "mute", due: () => held().promise.then(() => ({ tasks: [] })) };
      const { dispatcher, settle, told, pass } = opened([bad, mute, good.job]);
      await settle();
      good.add("ann", "goes on");
      dispatcher.wake();
      await settle();
      expect(good.ended).toEqual(["goes on"]);
      expect(told).toEqual(["The due jobs of bad could not be read: no table"]);
      const closed = dispatcher.close();
      await pass(60_000);
      await closed;
    });
  });

  describe("a task that hangs", () => {
    it("holds its key and stops no other agent, and after a while takes nobody's place", async () => {
      const { job, add, begun } = post();
      for (const key of ["1", "2"]) add("ann", key, () => held().promise);
      add("ann", "1");
      add("bob", "3");
      const { dispatcher, pass, settle } = opened([job], 2);
      await settle();
      // Bob's has had its turn beside one of Ann's.
      expect(begun).toContain("3");
      await pass(3_600_000);
      add("ann", "4");
      await pass(60_000);
      expect(begun.slice().sort()).toEqual(["1", "2", "3", "4"]);
      const closed = dispatcher.close();
      await pass(60_000);
      await closed;
    });
  });

  describe("the end", () => {
    it("tells what runs to stop, waits until it has, and begins nothing more", async () => {
      const { job, add, begun, ended } = post();
      const tidied = held();
      const stopped = (signal: AbortSignal) =>
        new Promise<void>((resolve) => signal.addEventListener("abort", () => void tidied.promise.then(resolve)));
      add("ann", "runs", stopped);
      add("ann", "runs");
      const { dispatcher, settle, pass } = opened([job]);
      await settle();
      let closed = false;
      const end = dispatcher.close().then(() => (closed = true));
      dispatcher.wake();
      await pass(1_000);
      expect(closed).toBe(false);
      tidied.resolve();
      await end;
      expect([begun, ended]).toEqual([["runs"], ["runs"]]);
    });

    it("lets what runs go on for a while before it tells it to stop, and begins nothing meanwhile", async () => {
      const { job, add, begun, ended } = post();
      const soon = held();
      const untilStopped = (signal: AbortSignal) =>
        new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      add("ann", "soon", () => soon.promise);
      add("bob", "late", untilStopped);
      const { dispatcher, settle, pass } = opened([job]);
      await settle();
      const end = dispatcher.close(10_000);
      add("cleo", "new");
      dispatcher.wake();
      await pass(5_000);
      soon.resolve();
      await settle();
      expect(ended).toEqual(["soon"]);
      await pass(5_000);
      await end;
      expect([begun, ended]).toEqual([
        ["soon", "late"],
        ["soon", "late"],
      ]);
    });

    it("does not wait for ever for a task that does not listen", async () => {
      const { job, add } = post();
      add("ann", "deaf", () => held().promise);
      const { dispatcher, settle, pass } = opened([job]);
      await settle();
      const end = dispatcher.close();
      await pass(60_000);
      await end;
    });
  });
}
