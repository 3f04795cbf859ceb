import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where there is one, a disk in memory: a store waits for the disk at each commit, and its tests commit by the thousand. */
const BASE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A new folder for one test. */
export const newFolder = (): string => mkdtempSync(join(BASE, "strata-store-"));
