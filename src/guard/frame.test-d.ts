// Checked by `tsc`: each line under an `@ts-expect-error` must not compile (law 4: unframed text is unrenderable).
import {
  type FrameHeader,
  layerId,
  type SystemBlock,
  type TailPart,
  type TextPart,
  trusted,
  untrusted,
} from "../protocol/index.ts";
import { clean, frame } from "./index.ts";

const header: FrameHeader = { kind: "message", trust: "contact", at: 0 };
const ours = trusted("Be brief.");
const theirs = untrusted("hello");
const framed = frame(header, theirs);
const plain: string = "hello";
const layer = layerId("recall");

export const fits: readonly [TextPart, TextPart, TailPart, TailPart, SystemBlock] = [
  { type: "text", text: ours },
  { type: "text", text: framed },
  { layer, text: ours },
  { layer, text: framed },
  { scope: "agent", text: ours, layers: [] },
];

// @ts-expect-error untrusted text is not sent unframed
export const untrustedPart: TextPart = { type: "text", text: theirs };
// @ts-expect-error a string of unknown origin is not sent
export const plainPart: TextPart = { type: "text", text: plain };
// @ts-expect-error clean text is still nobody's: only a frame says whose it is
export const cleanedPart: TextPart = { type: "text", text: clean(theirs) };
// @ts-expect-error untrusted text does not stand in a tail unframed
export const untrustedTail: TailPart = { layer, text: theirs };
// @ts-expect-error a string of unknown origin does not stand in a tail
export const plainTail: TailPart = { layer, text: plain };
// @ts-expect-error untrusted text never stands in the system prompt
export const untrustedBlock: SystemBlock = { scope: "agent", text: theirs, layers: [] };
// @ts-expect-error a string of unknown origin never stands in the system prompt
export const plainBlock: SystemBlock = { scope: "agent", text: plain, layers: [] };
// @ts-expect-error not even framed text stands in the system prompt
export const framedBlock: SystemBlock = { scope: "agent", text: framed, layers: [] };
// @ts-expect-error a frame around text is written by the guard only, around untrusted text only
export const plainFrame = frame(header, plain);
