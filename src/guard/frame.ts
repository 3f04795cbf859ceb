import { type Framed, type FrameHeader, type Untrusted, writeFrame } from "../protocol/index.ts";
import { clean, cleanName } from "./clean.ts";

/** Cleans text and puts it into a frame: the one way for untrusted text into a request. `name` is what the sender claims. */
export function frame(header: FrameHeader, text: Untrusted, name?: Untrusted): Framed {
  return writeFrame(header, name === undefined ? undefined : cleanName(name), clean(text)) as Framed;
}
