import { configureGlobal } from "fast-check";

/**
 * A broken law shows a small case soon, not the smallest one after minutes; and one that was not tried in all its cases has not
 * passed. Short of the time that a test may take; a property with more of it says so itself.
 */
configureGlobal({ interruptAfterTimeLimit: 25_000, markInterruptAsFailure: true });
