import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A disk in memory, if there is one: a store waits for the disk at each commit, and its tests make thousands of commits. */
const BASE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A new folder for one test. */
export const newFolder = (): string => mkdtempSync(join(BASE, "strata-store-"));
