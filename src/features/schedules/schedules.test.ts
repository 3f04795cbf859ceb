import { describe, expect, it } from "vitest";
import { IS_WHOLE } from "../../../tests/spread.ts";
import { allParts } from "../../app/entry/features.ts";
import { agentName, contactId, layerId, MODES, SELF, trusted, untrusted } from "../../protocol/index.ts";
import { openSqlite } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { DELIVERY_API } from "../deliveries/index.ts";
import { SCHEDULE_API } from "./api.ts";
import type { Schedule } from "./config.ts";
import { FEATURE } from "./index.ts";
import { cronProblem, nextTime, timesBetween } from "./times.ts";

const NAME = agentName("helper");
const digest: Schedule = {
  ...{ name: "digest", cron: "30 2 * * *", timezone: "Europe/Berlin", text: "Sum up the day." },
  ...{ missed: "once", mode: "minimal" },
};

/** An agent that does this by the clock, over a store that may outlive the program. */
async function clocked(schedules: readonly Schedule[], given: { store?: Awaited<ReturnType<typeof openSqlite>> } = {}) {
  const store = given.store ?? (await openSqlite(":memory:", { parts: await allParts() }));
  const answers = Array.from({ length: 1_200 }, () => "Done.");
  const stand = await testRuntime(answers, { agent: sampleAgent({ schedules }), store });
  const runs: number[] = [];
  /** What the dispatcher would do at this time: the times of the runs that began. */
  const look = async (at: number): Promise<readonly number[]> => {
    stand.time.at = at;
    runs.length = 0;
    for (const { schedule, isDue } of await stand.runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME)) {
      if (!isDue) continue;
      for (const event of await collect(stand.runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, NAME, schedule.name)))
        if (event.type === "turn-start") runs.push(at);
    }
    return [...runs];
  };
  const begun = async (): Promise<readonly string[]> =>
    (await stand.store.threads({ org: OPERATOR.org, agent: NAME, contact: SELF }, 2_000))
      .filter(({ turns }) => turns > 0)
      .map(({ key }) => key.slice(key.indexOf(" ") + 1))
      .sort();
  return { ...stand, look, begun };
}

const day = (text: string): number => Date.parse(text);

describe("001.22 what an agent does by the clock", () => {
  it("finds the last runs of a year of minutes at once, and those that stepping through all of them finds", () => {
    const rule = { cron: "* * * * *", timezone: "Europe/Berlin" };
    const until = day("2026-10-25T01:30:00Z");
    const began = performance.now();
    expect(timesBetween(rule, day("2025-10-01T00:00:00Z"), until, 2)).toEqual([until - 60_000, until]);
    expect(performance.now() - began).toBeLessThan(1_000);
    const sparse = { cron: "30 2 * * *", timezone: "Europe/Berlin" };
    const all = timesBetween(sparse, day("2026-01-01T00:00:00Z"), until, 1_000);
    expect(timesBetween(sparse, day("2026-01-01T00:00:00Z"), until, 7)).toEqual(all.slice(-7));
  });

  /** Parts of the year in which something may go wrong: its ends, and the nights in which the clocks of each place are set. */
  const SEASONS = [
    ["2026-01-01", "2026-01-08"],
    ["2026-03-05", "2026-03-12"],
    ["2026-03-26", "2026-04-02"],
    ["2026-10-22", "2026-11-04"],
    ["2026-12-25", "2027-01-01"],
  ] as const;
  const WHOLE_YEAR = ["2026-01-01", "2027-01-01"] as const;
  const tokyo = (date: string): number => day(`${date}T00:00:00+09:00`);

  /** Runs that there should be: one a day, or one each working day. */
  function expectedRuns(cron: string, from: number, until: number): number {
    const days = Array.from({ length: (until - from) / 86_400_000 }, (_, n) => new Date(from + n * 86_400_000));
    return days.filter((at) => !cron.endsWith("1-5") || ![0, 6].includes((at.getUTCDay() + 1) % 7)).length;
  }

  it.each([
    ["Europe/Berlin", "30 2 * * *", 365],
    ["America/New_York", "30 2 * * *", 365],
    ["Asia/Tokyo", "0 9 * * 1-5", 261],
  ])(
    "runs over a year in %s by `%s` as often as it says, both nights of daylight saving included (turns: those of 41 days; `checks/whole.ts`: all)",
    async (timezone, cron, expected) => {
      const [first, last] = [tokyo(WHOLE_YEAR[0]), tokyo(WHOLE_YEAR[1])];
      expect(timesBetween({ cron, timezone }, first, last, 1_000)).toHaveLength(expected);
      expect(expectedRuns(cron, first, last)).toBe(expected);
      for (const [begin, end] of IS_WHOLE ? [WHOLE_YEAR] : SEASONS) {
        const [from, until] = [tokyo(begin), tokyo(end)];
        const { look, runtime, begun } = await clocked([{ ...digest, cron, timezone }]);
        await look(from);
        let count = 0;
        for (;;) {
          const [view] = await runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME);
          if (view?.next === undefined || view.next > until) break;
          count += (await look(view.next)).length;
        }
        expect([begin, count]).toEqual([begin, expectedRuns(cron, from, until)]);
        expect(new Set(await begun()).size).toBe(count);
      }
    },
    120_000,
  );

  it("makes up at the end of the night what a spring night leaves out, and does not repeat what an autumn night repeats", () => {
    const [spring, autumn] = [day("2026-03-28T12:00:00Z"), day("2026-10-24T12:00:00Z")];
    const iso = (at: number | undefined) => new Date(at ?? 0).toISOString();
    expect(iso(nextTime(digest, spring))).toBe("2026-03-29T01:00:00.000Z");
    const twoDays = timesBetween(digest, autumn, autumn + 2 * 86_400_000, 10).map(iso);
    expect(twoDays).toEqual(["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]);
    const hourly = timesBetween({ cron: "0 * * * *", timezone: "Europe/Berlin" }, autumn, autumn + 86_400_000, 100);
    expect(hourly).toHaveLength(24);
  });

  it.each([
    ["skip", []],
    ["once", ["2026-05-04T09:00:00.000Z"]],
    [2, ["2026-05-03T09:00:00.000Z", "2026-05-04T09:00:00.000Z"]],
    ["all", ["2026-05-02T09:00:00.000Z", "2026-05-03T09:00:00.000Z", "2026-05-04T09:00:00.000Z"]],
  ] as const)("of runs that were missed while nothing ran, `missed: %s` makes up %j, once", async (missed, made) => {
    const noon: Schedule = { ...digest, cron: "0 9 * * *", timezone: "UTC", missed };
    const first = await clocked([noon]);
    await first.look(day("2026-04-30T12:00:00Z"));
    expect(await first.look(day("2026-05-01T09:00:20Z"))).toHaveLength(1);
    const again = await clocked([noon], { store: first.store });
    expect(await again.look(day("2026-05-04T12:00:00Z"))).toHaveLength(made.length);
    expect(await again.look(day("2026-05-04T12:01:00Z"))).toEqual([]);
    expect(await again.begun()).toEqual(["2026-05-01T09:00:00.000Z", ...made]);
    const third = await clocked([{ ...noon, text: "Say it otherwise." }], { store: first.store });
    expect(await third.look(day("2026-05-04T12:02:00Z"))).toEqual([]);
  });

  it("25.21 tells a run how many messages wait, and nothing where none does", async () => {
    const first = await clocked([{ ...digest, cron: "0 * * * *", timezone: "UTC" }]);
    await first.look(day("2026-05-01T08:30:00Z"));
    await first.look(day("2026-05-01T09:00:01Z"));
    await first.runtime.post(OPERATOR, await first.open(), [message("Are you there?", first.time.at)]);
    await first.look(day("2026-05-01T10:00:01Z"));
    const [quiet, told] = first.sent.map(({ messages }) => JSON.stringify(messages));
    expect(quiet).toContain("Sum up the day.");
    expect(quiet).not.toContain("waiting");
    expect(told).toMatch(/Sum up the day\..*When this began, 1 message was waiting for a turn of its own\./);
    expect(told).not.toContain("Are you there?");
  });

  it("goes on when the clock was set back, in this program and in the next, runs nothing twice, and tells it", async () => {
    const hourly: Schedule = { ...digest, cron: "0 * * * *", timezone: "UTC" };
    const first = await clocked([hourly]);
    await first.look(day("2027-05-01T08:30:00Z"));
    expect(await first.look(day("2027-05-01T09:00:01Z"))).toHaveLength(1);
    for (const { look, runtime, begun } of [first, await clocked([hourly], { store: first.store })]) {
      const before = (await begun()).length;
      expect(await look(day("2026-05-01T08:30:00Z"))).toEqual([]);
      expect(runtime.use(SCHEDULE_API).scheduleNews(OPERATOR, NAME, "digest")).toMatchObject({
        setBack: 365 * 86_400_000 + (before > 1 ? 1_800_000 : 1_801_000),
      });
      expect(runtime.use(SCHEDULE_API).scheduleNews(OPERATOR, NAME, "digest")).toBeUndefined();
      const [next] = await runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME);
      expect(next).toMatchObject({ isDue: false, next: day("2026-05-01T09:00:00Z") });
      await look(day("2026-05-01T09:00:01Z"));
      expect(await begun()).toEqual(["2026-05-01T09:00:00.000Z", "2027-05-01T09:00:00.000Z"]);
    }
  });

  it("makes up one run when the clock was set forward, and tells how many were missed", async () => {
    const { look, runtime } = await clocked([{ ...digest, cron: "*/10 * * * *", timezone: "UTC" }]);
    await look(day("2026-05-01T08:00:00Z"));
    expect(await look(day("2026-05-10T08:05:00Z"))).toHaveLength(1);
    const news = runtime.use(SCHEDULE_API).scheduleNews(OPERATOR, NAME, "digest");
    expect(news).toMatchObject({ setBack: 0, madeUp: 1 });
    expect(news?.missed).toBeGreaterThanOrEqual(1_000);
  });

  it("25.8 with `missed: all` makes up each run that a clock set forward left out, once, also when it is set right again", async () => {
    const { look, runtime, begun } = await clocked([
      { ...digest, cron: "*/10 * * * *", timezone: "UTC", missed: "all" },
    ]);
    await look(day("2026-05-01T08:00:00Z"));
    expect(await look(day("2026-05-01T12:05:00Z"))).toHaveLength(24);
    expect(runtime.use(SCHEDULE_API).scheduleNews(OPERATOR, NAME, "digest")).toMatchObject({ missed: 24, madeUp: 24 });
    const made = await begun();
    expect([made[0], made.at(-1)]).toEqual(["2026-05-01T08:10:00.000Z", "2026-05-01T12:00:00.000Z"]);
    expect(new Set(made).size).toBe(24);
    await look(day("2026-05-01T08:05:00Z"));
    for (const time of ["08:10:01", "09:00:01", "12:00:01"]) await look(day(`2026-05-01T${time}Z`));
    expect(await begun()).toEqual(made);
    expect(await look(day("2026-05-01T12:10:01Z"))).toHaveLength(1);
  });

  it("is listed with the reason why a run waits, and without one where all have ended", async () => {
    const noon: Schedule = { ...digest, cron: "0 9 * * *", timezone: "UTC" };
    const { runtime, time } = await testRuntime(["Done.", new Error("the model is down")], {
      agent: sampleAgent({ schedules: [noon] }),
    });
    const runAt = async (text: string): Promise<void> => {
      time.at = day(text);
      await collect(runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, NAME, "digest"));
    };
    await runAt("2026-05-01T08:00:00Z");
    await runAt("2026-05-01T09:00:01Z");
    expect(await runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME)).not.toHaveProperty("0.waits");
    await runAt("2026-05-02T09:00:01Z");
    expect(await runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME)).toMatchObject([
      { waits: { runs: 1, because: expect.stringContaining("the model is down") } },
    ]);
  });

  it("is on no thread before its first run, and not missed where no program was there for a first look", async () => {
    const noon: Schedule = { ...digest, cron: "0 9 * * *", timezone: "UTC", missed: "all" };
    const { look, runtime, store } = await clocked([noon]);
    await look(day("2026-05-01T08:00:00Z"));
    expect(await runtime.newestThreads(OPERATOR, { limit: 9, channel: "schedule" })).toEqual([]);
    const again = await clocked([noon], { store });
    expect(await again.look(day("2026-05-02T12:00:00Z"))).toHaveLength(2);
    for await (const finding of store.verify(OPERATOR.org)) expect(finding.type).not.toBe("problem");
  });

  it("is paused and resumed, recorded; what comes due meanwhile is left out, also in a program that begins later", async () => {
    const noon: Schedule = { ...digest, cron: "0 9 * * *", timezone: "UTC", missed: "all" };
    const { look, runtime, store } = await clocked([noon]);
    await look(day("2026-05-01T08:00:00Z"));
    const again = await clocked([noon], { store });
    expect(await runtime.use(SCHEDULE_API).pauseSchedule(OPERATOR, NAME, "digest", true)).toBe(true);
    expect(await runtime.use(SCHEDULE_API).pauseSchedule(OPERATOR, NAME, "digest", true)).toBe(false);
    for (const program of [look, again.look]) expect(await program(day("2026-05-03T12:00:00Z"))).toEqual([]);
    expect(await runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME)).toMatchObject([
      { isDue: false, paused: { since: day("2026-05-01T08:00:00Z"), by: "operator" } },
    ]);
    expect((await runtime.use(SCHEDULE_API).schedules(OPERATOR, NAME))[0]).not.toHaveProperty("next");
    again.time.at = day("2026-05-03T12:00:00Z");
    expect(await again.runtime.use(SCHEDULE_API).pauseSchedule(OPERATOR, NAME, "digest", false)).toBe(true);
    for (const program of [look, again.look, (await clocked([noon], { store })).look])
      expect(await program(day("2026-05-03T12:00:01Z"))).toEqual([]);
    expect(await look(day("2026-05-04T09:00:01Z"))).toHaveLength(1);
    await expect(runtime.use(SCHEDULE_API).pauseSchedule(OPERATOR, NAME, "digets", true)).rejects.toThrow(
      "did you mean `digest`",
    );
  });

  it("its runs are listed where they are asked for, and crowd out no conversation", async () => {
    const each: Schedule = { ...digest, cron: "* * * * *", timezone: "UTC", missed: "all" };
    const { look, runtime, open, say } = await clocked([each]);
    await look(day("2026-05-01T08:00:00Z"));
    await say(await open(), "Hello.");
    await look(day("2026-05-01T08:05:00Z"));
    const listed = async (on: object) =>
      (await runtime.newestThreads(OPERATOR, { limit: 3, ...on })).map(({ channel }) => channel);
    expect(await listed({ except: ["schedule"] })).toEqual(["test"]);
    expect(await listed({ channel: "schedule" })).toEqual(["schedule", "schedule", "schedule"]);
  });

  it("two programs that look at once run it once; one whose model failed is taken up again", async () => {
    const noon: Schedule = { ...digest, cron: "0 9 * * *", timezone: "UTC" };
    const store = await openSqlite(":memory:", { parts: await allParts() });
    const [one, two] = [await clocked([noon], { store }), await clocked([noon], { store })];
    for (const each of [one, two]) await each.look(day("2026-05-01T08:00:00Z"));
    const at = day("2026-05-01T09:00:01Z");
    const ran = await Promise.all([one.look(at), two.look(at)]);
    expect(ran.flat()).toHaveLength(1);
    const failing = await testRuntime([new Error("down"), "Done."], {
      agent: sampleAgent({ schedules: [noon] }),
      store,
    });
    failing.time.at = day("2026-05-02T09:00:01Z");
    const events = await collect(failing.runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, NAME, "digest"));
    expect(endOf(events).type).toBe("failed");
    failing.time.at = day("2026-05-02T09:10:00Z");
    expect(endOf(await collect(failing.runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, NAME, "digest"))).type).toBe(
      "done",
    );
  });

  it("is sent what `minimal` says and no conversation, as an instruction of the operator's", async () => {
    const [core] = sampleAgent().layers;
    if (core === undefined) throw new Error("the sample has a layer");
    const absent = { full: "whole", compact: "whole", minimal: "absent" } as const;
    const text = (words: string) => ({ kind: "text", text: trusted(words) }) as const;
    const layers = [
      { ...core, id: layerId("core"), source: text("You are the core.") },
      { ...core, id: layerId("files"), rank: 15, modes: absent, source: text("All about the project.") },
    ];
    const agent = sampleAgent({ layers, schedules: [digest] });
    const { runtime, sent } = await testRuntime(["First.", "Second."], { agent });
    await collect(runtime.use(SCHEDULE_API).runSchedule(OPERATOR, NAME, "digest"));
    await collect(runtime.use(SCHEDULE_API).runSchedule(OPERATOR, NAME, "digest"));
    for (const request of sent) {
      expect(request.prefix.system.map((block) => block.text).join()).toContain("the core");
      expect(JSON.stringify(request)).not.toContain("All about the project");
      expect(JSON.stringify(request.messages)).toContain("[scheduled operator ");
      expect(JSON.stringify(request.messages)).not.toContain("First.");
    }
    const whom = { agent: NAME, contact: contactId("ann"), channel: "test", key: "x" };
    await expect(runtime.compose(OPERATOR, whom, untrusted("Hi"), { mode: "minimal" })).resolves.toMatchObject({
      ledger: { mode: "minimal" },
    });
  });

  it.each(MODES)("is sent what its mode %s says, by hand and when it is due", async (mode) => {
    const { look, runtime, store } = await clocked([{ ...digest, cron: "0 9 * * *", timezone: "UTC", mode }]);
    await look(day("2026-05-01T08:00:00Z"));
    expect(await look(day("2026-05-01T09:00:00Z"))).toHaveLength(1);
    await collect(runtime.use(SCHEDULE_API).runSchedule(OPERATOR, NAME, "digest"));
    const threads = await store.threads({ org: OPERATOR.org, agent: NAME, contact: SELF }, 9);
    const turns = (await Promise.all(threads.map(({ id }) => runtime.turns(OPERATOR, id)))).flat();
    expect(turns.map(({ requests }) => requests[0]?.ledger.mode)).toEqual([mode, mode]);
  });

  it("takes up no run of another whose name begins with its own", async () => {
    const store = await openSqlite(":memory:", { parts: await allParts() });
    const both = [
      { ...digest, name: "day", cron: "0 9 * * *", timezone: "UTC" },
      { ...digest, name: "day-end", cron: "0 18 * * *", timezone: "UTC" },
    ];
    const failing = await testRuntime([new Error("gone")], { agent: sampleAgent({ schedules: both }), store });
    for (const [name, at] of [
      ["day", "2026-05-01T08:00:00Z"],
      ["day-end", "2026-05-01T08:00:00Z"],
      ["day-end", "2026-05-01T18:00:00Z"],
    ] as const) {
      failing.time.at = day(at);
      await collect(failing.runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, NAME, name));
    }
    const next = await clocked(both, { store });
    next.time.at = day("2026-05-01T18:30:00Z");
    const events = await collect(next.runtime.use(SCHEDULE_API).runDueSchedule(OPERATOR, NAME, "day"));
    expect(events.filter(({ type }) => type === "turn-start")).toHaveLength(1);
    const threads = await store.threads({ org: OPERATOR.org, agent: NAME, contact: SELF }, 9);
    const ended = threads.map(async ({ id, key }) => [
      key,
      (await next.runtime.turns(OPERATOR, id)).at(-1)?.end?.status,
    ]);
    expect((await Promise.all(ended)).sort()).toEqual([
      ["day 2026-05-01T09:00:00.000Z", "done"],
      ["day-end 2026-05-01T18:00:00.000Z", "failed"],
    ]);
  });

  it("is begun by the dispatcher's job when it is due, and not before; each run is told, and its reply waits in the outbox", async () => {
    const { runtime, time } = await clocked([{ ...digest, cron: "0 9 * * *", timezone: "UTC" }]);
    const [job] = FEATURE.jobs ?? [];
    const world = { runtime, operator: OPERATOR, clock: { real: () => time.at }, isWanted: async () => true };
    const told: string[] = [];
    const dues = async (at: string) => {
      time.at = day(at);
      const due = await job?.due(world);
      for (const task of due?.tasks ?? [])
        for (const { message: says } of await collect(task.run(new AbortController().signal)))
          if (says !== "") told.push(says);
      return { tasks: due?.tasks.length, next: due?.next === undefined ? undefined : new Date(due.next).toISOString() };
    };
    expect((await dues("2026-05-01T08:00:00Z")).tasks).toBe(1);
    expect(await dues("2026-05-01T08:30:00Z")).toEqual({ tasks: 0, next: "2026-05-01T09:00:00.000Z" });
    expect((await dues("2026-05-01T09:00:00Z")).tasks).toBe(1);
    expect(await dues("2026-05-01T09:00:01Z")).toEqual({ tasks: 0, next: "2026-05-02T09:00:00.000Z" });
    expect(told).toEqual(["digest of helper ran: `strata outbox list helper` shows its reply."]);
    await dues("2026-05-05T12:00:00Z");
    expect(told.at(-1)).toBe(
      "4 runs of digest of helper were missed, because no program ran, the machine slept or the clock was set forward; 1 of them is made up, as `missed` says.",
    );
    await dues("2026-05-04T12:00:00Z");
    expect(told.at(-1)).toMatch(/^The clock was set back by 24 hours: digest of helper goes by the new time/);
    await dues("2026-05-05T12:00:00Z");
    expect(await runtime.use(DELIVERY_API).outbox(OPERATOR, NAME, { limit: 9 })).toMatchObject([
      { text: "Done.", status: "waiting" },
      { text: "Done." },
    ]);
  });

  it("refuses a rule that cannot be read, one that never comes and a time zone that is none", () => {
    const why = (cron: string, timezone = "UTC") => cronProblem({ cron, timezone });
    expect(why("0 9 * * 1-5")).toBeUndefined();
    const says = (words: string) => ({ key: "cron", expected: expect.stringContaining(words) });
    expect(why("0 99 * * *")).toMatchObject(says("`99` is no hour: the fields are minute, hour, "));
    expect(why("0 9 * * mondays")).toMatchObject(says("`mondays` is no day of the week: "));
    expect(why("every day")).toMatchObject(says("expected five fields instead of 2: "));
    expect(why("0 0 9 * * *")).toMatchObject(says("expected five fields instead of 6: "));
    expect(why("0 0 30 2 *")).toMatchObject({ key: "cron", expected: "never comes: no day is like that" });
    expect(why("0 9 * * *", "Mars/Olympus")).toMatchObject({ key: "timezone" });
  });
});
