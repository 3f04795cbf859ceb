/**
 * Texts on trial: cleaning and normalising, and the only door through which untrusted text becomes renderable.
 * Pure: no clock, no chance, no input or output.
 */
export { clean, cleanName } from "./clean.ts";
export { frame } from "./frame.ts";
