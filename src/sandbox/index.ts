export { type Bundle, type BundleFailure, bundle, lineIn, mappedStack, withPlaces } from "./bundle.ts";
export { cageMissing, LEVELS, type Level, openCage } from "./cage.ts";
export type { Pool } from "./pool.ts";
export { type Answer, DEFAULT_LIMITS, type Failure, type Outcome, type SliceLimits, type Task } from "./task.ts";
