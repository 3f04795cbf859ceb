import { z } from "zod";
import { agentKey, type KindsOf, line, type StoredKeys, sharedKey, slug, sourceForm } from "../../agents/index.ts";
import { type Agent, suggestion } from "../../protocol/index.ts";
import { spansOf } from "./hours.ts";

const TIMES = z
  .string()
  .max(100)
  .refine(
    (written) => spansOf(written) !== undefined,
    "times in order, as `09:00-12:00, 13:00-18:00`, or `closed`; a last one may end on the next day, as `20:00-02:00`",
  );

const day = (name: string) => TIMES.optional().describe(`Opening hours on ${name[0]?.toUpperCase()}${name.slice(1)}.`);

const HOURS = z.strictObject({
  monday: day("monday"),
  tuesday: day("tuesday"),
  wednesday: day("wednesday"),
  thursday: day("thursday"),
  friday: day("friday"),
  saturday: day("saturday"),
  sunday: day("sunday"),
  exceptions: z
    .record(z.iso.date("a date, as `2026-12-24`"), TIMES)
    .optional()
    .describe("Hours of single dates, as `2026-12-24: closed`, in place of those of the weekday."),
});

const MEMBER = z.strictObject({
  name: line(100).describe("The name that contacts see."),
  title: line(100).optional().describe("What the member is there, as `Head of repairs`."),
  signature: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe("What stands below the member's messages. Default: the name, and that of the organization."),
  language: line(40).optional().describe("The language the member writes in."),
});

const LINE = z.strictObject({
  name: line(100).describe("What the line is called, as `Shop phone`."),
  address: line(200).optional().describe("Its number or address."),
  member: slug()
    .optional()
    .describe("Which of the `members` answers there. Default: the one whom the agent represents."),
});

const BUSINESS = z
  .strictObject({
    name: line(200).describe("What the business or household is called."),
    description: line(1_000).optional().describe("What it is, in a sentence or two."),
    services: z.array(line(200)).max(50).optional().describe("What it offers."),
    contacts: z.record(slug(), line(200)).optional().describe("How it is reached, by kind, as `phone: +49 30 1234`."),
    address: line(300).optional().describe("Where it is."),
    languages: z.array(line(40)).max(20).optional().describe("The languages it speaks."),
    timezone: z.string().default("UTC").describe("The IANA time zone of its hours, as `Europe/Berlin`."),
    hours: HOURS.optional().describe(
      "When it is open. A weekday that is left out is closed. Default: nothing is said of it.",
    ),
    afterHours: line(1_000).optional().describe("What contacts are to be told while it is closed."),
    compliance: z.array(line(500)).max(50).optional().describe("What everybody who speaks for it must observe."),
    rules: z
      .string()
      .max(20_000)
      .optional()
      .describe("Rules for all its agents, in your own words: what a layer with `source: rules` says."),
    members: z.record(slug(), MEMBER).optional().describe("The people of the organization, by an id."),
    lines: z
      .record(slug(), LINE)
      .optional()
      .describe("Numbers and addresses to which contacts write, by an id that `line` of a message names."),
  })
  .optional()
  .describe("The organization for which an agent speaks: what contacts may know of it, its hours, its people.");

const business = sharedKey(
  agentKey(BUSINESS, {
    check: (declared, { name, agents, agent, refuse, textOf }) => {
      const represented: unknown = Reflect.get(agents[name] ?? {}, "represents");
      const people = declared?.members ?? {};
      if (typeof represented === "string" && !Object.hasOwn(people, represented))
        refuse(
          ["represents"],
          `\`members\` has no \`${represented}\`${suggestion(represented, Object.keys(people))}`,
          "agent",
        );
      const served = Object(Reflect.get(Object(Reflect.get(agents[name] ?? {}, "assistant")), "members"));
      for (const id of Object.keys(served))
        if (!Object.hasOwn(people, id))
          refuse(
            ["assistant", "members", id],
            `\`business\` has no member \`${id}\`${suggestion(id, Object.keys(people))}`,
            "agent",
          );
      for (const [i, { source }] of agent.layers.entries())
        if (declared === undefined && source !== undefined && NEEDS_BUSINESS.includes(source))
          refuse(["layers", i, "source"], "needs `business`, which says for whom the agent speaks", "agent");
      if (declared === undefined) return;
      const { timezone, rules, members = {}, lines = {} } = declared;
      if (!isTimezone(timezone))
        refuse(["timezone"], "there is no such time zone; expected one such as `Europe/Berlin`");
      if (rules !== undefined) textOf({ text: rules }, ["rules"]);
      for (const [id, { signature }] of Object.entries(members))
        if (signature !== undefined) textOf({ text: signature }, ["members", id, "signature"]);
      for (const [id, { member }] of Object.entries(lines))
        if (member !== undefined && !Object.hasOwn(members, member))
          refuse(
            ["lines", id, "member"],
            `\`members\` has no \`${member}\`${suggestion(member, Object.keys(members))}`,
          );
    },
  }),
);

/** The sources that say something of the business. */
const NEEDS_BUSINESS: readonly string[] = ["identity", "rules", "opening"];

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** How often a signature follows an agent's messages. */
const SIGNING = ["always", "first", "never"] as const;

/** Whether it says that it is an AI. */
const DISCLOSING = ["asked", "never"] as const;

const represents = agentKey(
  slug()
    .optional()
    .describe("The member of `business` for whom the agent writes. Default: it writes for the whole organization."),
);

const signature = agentKey(
  z
    .record(z.string().min(1).max(64), z.enum(SIGNING))
    .optional()
    .describe(
      "Whether its replies are signed, by channel: `always`, the `first` one of a conversation, or `never`. The signature is that of the line's member, or of the one it represents. Default: never.",
    ),
);

const disclosure = agentKey(
  z
    .enum(DISCLOSING)
    .optional()
    .describe(
      "Whether an agent with a layer `identity` says that it is an AI: `asked`, when somebody wants to know, or `never`. With `never`, see to it yourself that the law where you are allows it: in many places it does not. Default: `asked`.",
    ),
);

/** For whom an agent speaks. */
export const KEYS = { business, represents, signature, disclosure };

export const SOURCES = {
  identity: sourceForm({
    fills: "for whom the agent speaks: `business`, and the member it represents",
    isStored: true,
    changesFor: "agent",
    kept: {},
    make: () => ({}),
  }),
  rules: sourceForm({
    fills: "the `rules` of `business`, for all its agents",
    isStored: true,
    changesFor: "org",
    kept: {},
    make: () => ({}),
  }),
  opening: sourceForm({
    fills: "whether the `business` is open now, and whose line was written to",
    isOurs: true,
    kept: {},
    make: () => ({}),
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}

export type StoredBusiness = NonNullable<Agent["business"]>;
export type Member = NonNullable<StoredBusiness["members"]>[string];
export type Line = NonNullable<StoredBusiness["lines"]>[string];
