import { type Framed, type FrameHeader, type Untrusted, writeFrame } from "../protocol/index.ts";
import { clean } from "./clean.ts";
import { cleanName } from "./clean-name.ts";

/**
 * Cleans text and puts it into a frame: the only way for untrusted text into a request. `name` is the name that the sender claims; it
 * is left out if nothing of it remains.
 */
export function frame(header: FrameHeader, text: Untrusted, name?: Untrusted): Framed {
  const claimed = name === undefined ? "" : cleanName(name);
  // The only place where `Framed` is made: each line of clean text gets the prefix, so none can be a header.
  return writeFrame(header, claimed === "" ? undefined : claimed, clean(text)) as Framed;
}
