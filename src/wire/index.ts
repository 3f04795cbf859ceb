/**
 * What a provider's cache does and costs: model cards, and where the marks stand. Pure: no clock, no chance, no input or
 * output. It knows requests, not layers, threads or providers' wire formats.
 */
export { type CardBook, type CardOverride, cardBook, cardOf, dollars, type ModelCard } from "./cards.ts";
export { FAMILIES } from "./families.ts";
export type { CacheWay, Family, Lifetimes, Price, TailWay } from "./family.ts";
export { planMarks } from "./marks.ts";
