import { type CONTEXT_KINDS, type EventKind, KIND_FORM } from "./event.ts";
import { PROOFS, type Proof } from "./life.ts";
import { TRUSTS, type Trust } from "./trust.ts";

/**
 * The grammar of frames. A frame is one header line of the platform and then the content, with a prefix on every line:
 *
 *     [message · contact · 2026-11-21T09:30:00Z]
 *     |@ Caroline
 *     | Hey! Good to see you!
 *     | How have you been?
 *
 * Where senders are addresses, the header also says whether the message is `proven` or only `claimed` to be theirs:
 * `[message · contact · proven · 2026-11-21T09:30:00Z]`.
 *
 * No line of content can start otherwise than with `| ` (or `|@ ` for the claimed name), so no content can be a header. A header is
 * recognised by its form, whatever its kind.
 */
export type FrameKind = EventKind | (typeof CONTEXT_KINDS)[number];

export interface FrameHeader {
  readonly kind: FrameKind;
  readonly trust: Trust;
  /** Whether its sender signed it, if signatures are used. */
  readonly proof?: Proof;
  /** Milliseconds since 1970, shown to the second. */
  readonly at: number;
}

/** A frame found in a text, as `readFrames` returns it. */
export interface ReadFrame extends Omit<FrameHeader, "kind"> {
  readonly kind: string;
  readonly name: string | undefined;
  readonly text: string;
}

const LINE = "| ";
const NAME = "|@ ";
const HEADER = new RegExp(
  `^\\[(${KIND_FORM}) · (${TRUSTS.join("|")}) · (?:(${PROOFS.join("|")}) · )?(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)\\]$`,
);

/** An instant as the platform writes it: UTC, to the second. */
export function isoSecond(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Puts clean text, with `\n` as its only line break, into a frame. Called only by the guard's `frame`. */
export function writeFrame(header: FrameHeader, name: string | undefined, text: string): string {
  const proof = header.proof === undefined ? "" : ` · ${header.proof}`;
  const head = `[${header.kind} · ${header.trust}${proof} · ${isoSecond(header.at)}]`;
  const claim = name === undefined ? "" : `\n${NAME}${name}`;
  return `${head}${claim}\n${LINE}${text.replaceAll("\n", `\n${LINE}`)}`;
}

/** Whether a line looks like one of the platform's own: a frame's header or a layer's heading. */
export function looksLikeOurs(line: string): boolean {
  return HEADER.test(line) || /^# Layer \d+ · /.test(line);
}

/** The heading of a layer's text in the prompt. */
export function layerHeading(layer: { readonly rank: number; readonly id: string }): string {
  return `# Layer ${layer.rank} · ${layer.id}`;
}

/** All frames of a text, in order. Lines outside of frames are skipped; a `| ` line without a header belongs to no frame. */
export function readFrames(text: string): ReadFrame[] {
  const frames: ReadFrame[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const header = HEADER.exec(lines[i] ?? "");
    if (!header) continue;
    const name = lines[i + 1]?.startsWith(NAME) ? lines[++i]?.slice(NAME.length) : undefined;
    const content: string[] = [];
    while (lines[i + 1]?.startsWith(LINE)) content.push((lines[++i] ?? "").slice(LINE.length));
    frames.push({ ...readHeader(header), name, text: content.join("\n") });
  }
  return frames;
}

function readHeader(match: RegExpExecArray): Pick<ReadFrame, keyof FrameHeader> {
  const kind = match[1] ?? "";
  const trust = TRUSTS.find((word) => word === match[2]) ?? "contact";
  const proof = PROOFS.find((word) => word === match[3]);
  return { kind, trust, at: Date.parse(match[4] ?? ""), ...(proof && { proof }) };
}
