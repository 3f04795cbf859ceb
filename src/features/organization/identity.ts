import {
  type Agent,
  type LayerContent,
  type LayerId,
  type StoredEvent,
  type Trusted,
  trusted,
} from "../../protocol/index.ts";
import { civilAt, isoDay, nextDay, timeAt } from "./civil.ts";
import type { Line, Member, StoredBusiness } from "./config.ts";
import { DAYS, openingAt } from "./hours.ts";
import {
  closedUntil,
  DISCLOSURE,
  forMember,
  LABELS,
  onBehalf,
  onLine,
  openingHours,
  openUntil,
  WORDING,
  whileClosed,
  writeIn,
} from "./wording.ts";

/** The member for whom an agent writes: of the line that was written to, or its own. */
export function memberFor({ business, represents }: Agent, line?: Line): Member | undefined {
  const id = line?.member ?? represents;
  return id === undefined ? undefined : business?.members?.[id];
}

/** The line to which the newest of these messages came that names one. */
export function lineOf(agent: Agent, events: readonly Pick<StoredEvent, "line">[]): Line | undefined {
  const id = events.findLast(({ line }) => line !== undefined)?.line;
  return id === undefined ? undefined : lineNamed(agent, id);
}

export const lineNamed = ({ business }: Agent, id: string): Line | undefined => business?.lines?.[id];

/** The signature below the member's messages. */
export const signatureOf = ({ name }: StoredBusiness, member: Member): string =>
  member.signature ?? `${member.name}, ${name}`;

const sentenceCase = (word: string): string => `${word[0]?.toUpperCase()}${word.slice(1)}`;

/** For whom the agent speaks, as lines of its prompt: the same for all its conversations. */
export function identityText(agent: Agent, business: StoredBusiness): Trusted {
  const { name, description, services, contacts, address, languages, timezone, hours, compliance } = business;
  const member = memberFor(agent);
  const week = DAYS.flatMap((day) => (hours?.[day] === undefined ? [] : [`${sentenceCase(day)} ${hours[day]}`]));
  const dates = Object.entries(hours?.exceptions ?? {}).map(([date, times]) => `${date} ${times}`);
  const lines = [
    onBehalf(name),
    description,
    member && forMember(member.name, member.title),
    member?.language && writeIn(member.language),
    services && `${LABELS.services}: ${services.join("; ")}`,
    contacts &&
      `${LABELS.contact}: ${Object.entries(contacts)
        .map(([kind, value]) => `${kind} ${value}`)
        .join("; ")}`,
    address && `${LABELS.address}: ${address}`,
    languages && `${LABELS.languages}: ${languages.join(", ")}`,
    hours && openingHours(timezone ?? "UTC", [...week, ...dates]),
    DISCLOSURE[agent.disclosure ?? "asked"],
    ...(compliance ?? []).map((rule) => `- ${rule}`),
  ];
  return trusted([WORDING.heading, ...lines.flatMap((one) => one || [])].join("\n"));
}

export const filled = (text: string | undefined, because: string): LayerContent =>
  text === undefined || text === "" ? { kind: "empty", because } : { kind: "text", text: trusted(text) };

/** The layers about the business: the same for all conversations of the agent. */
export function identityTexts(agent: Agent): ReadonlyMap<LayerId, LayerContent> {
  const { business } = agent;
  if (business === undefined) return new Map();
  const rules = business.rules && `${WORDING.rules}\n${business.rules.trim()}`;
  return new Map(
    agent.layers.flatMap(({ id, source: { kind } }): (readonly [LayerId, LayerContent])[] => {
      if (kind === "identity") return [[id, { kind: "text", text: identityText(agent, business) }]];
      return kind === "rules" ? [[id, filled(rules, "`business` has no `rules`")]] : [];
    }),
  );
}

/** Whether the agent's business is open at that time; undefined if no hours are declared. */
export const isOpenAt = ({ business }: Agent, at: number): boolean | undefined =>
  business?.hours && openingAt(business.hours, business.timezone ?? "UTC", at).isOpen;

/** Whether the business is open at that time, as a sentence for the tail; empty if no hours are declared. */
export function openingText({ hours, timezone = "UTC", afterHours }: StoredBusiness, at: number): string | undefined {
  if (hours === undefined) return undefined;
  const { isOpen, changes } = openingAt(hours, timezone, at);
  if (isOpen) return changes === undefined ? WORDING.always : openUntil(moment(timezone, changes, at));
  const message = changes === undefined ? WORDING.never : closedUntil(moment(timezone, changes, at));
  return afterHours === undefined ? message : `${message} ${whileClosed(afterHours)}`;
}

/** In the form `at 18:00` for today and tomorrow, otherwise with the day. */
function moment(timezone: string, then: number, now: number): string {
  const [day, today] = [civilAt(timezone, then), civilAt(timezone, now)];
  const time = timeAt(timezone, then);
  if (isoDay(day) === isoDay(today)) return `${time} today`;
  if (isoDay(day) === isoDay(nextDay(today))) return `${time} tomorrow`;
  const weekday = DAYS[new Date(`${isoDay(day)}T00:00:00Z`).getUTCDay()] ?? "";
  return `${time} on ${sentenceCase(weekday)}, ${isoDay(day)}`;
}

/** To which line a message came, and who answers there. */
export function lineText(agent: Agent, line: Line): string {
  const member = line.member === undefined ? undefined : memberFor(agent, line);
  const who = member && (member.title === undefined ? member.name : `${member.name} (${member.title})`);
  return onLine(line.name, who);
}
