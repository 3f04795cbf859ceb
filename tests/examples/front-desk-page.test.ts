import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { walk } from "../package/walk.ts";
import { userFolder } from "./user-folder.ts";

const PAGE = join(ROOT, "docs/front-desk.md");

it("docs/front-desk.md shows what its commands print", async () => {
  const standIns = { install: () => {}, model: "", keepsConfig: true } as const;
  const page = await walk(readFileSync(PAGE, "utf8"), await userFolder(), standIns);
  await expect(page).toMatchFileSnapshot(PAGE);
}, 120_000);
