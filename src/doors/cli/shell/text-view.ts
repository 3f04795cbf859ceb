import type { TextWarning } from "../../../app/doors/texts.ts";
import { printable } from "../../../print/index.ts";

/** What is to be known of a declared text, on a line of its own. */
export const textWarning = ({ agent, piece, says }: TextWarning): string => `${agent}, ${piece}: ${printable(says)}`;
