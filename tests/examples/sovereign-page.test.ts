import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { walk } from "../package/walk.ts";
import { userFolder } from "./user-folder.ts";

const PAGE = join(ROOT, "docs/sovereign.md");

it("docs/sovereign.md shows what its commands print", async () => {
  const page = await walk(readFileSync(PAGE, "utf8"), await userFolder(), { install: () => {}, model: "" });
  await expect(page).toMatchFileSnapshot(PAGE);
}, 120_000);
