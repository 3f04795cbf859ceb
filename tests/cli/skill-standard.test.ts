import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { place, strata } from "./strata.ts";

const GOOD = "---\nname: invoicing\ndescription: Writes invoices.\n---\nWrite number, date and sum.\n";

/** A folder with an agent that loads skills, and these skills. */
async function withSkills(skills: Readonly<Record<string, string>>): Promise<{ readonly cwd: string }> {
  const cwd = place();
  const yaml = [
    "organization: home",
    "agents:",
    "  workbench:",
    "    description: Works beside a project.",
    "    tools: [load_skill]",
    "    layers:",
    "      - {id: core, rank: 0, text: You are a workbench., mutability: versioned}",
    "      - {id: skills, rank: 40, source: skills}",
  ];
  writeFileSync(join(cwd, "strata.yaml"), `${yaml.join("\n")}\n`);
  for (const [name, text] of Object.entries(skills)) {
    mkdirSync(join(cwd, "skills", name), { recursive: true });
    writeFileSync(join(cwd, "skills", name, "SKILL.md"), text);
  }
  await strata(["lock"], { cwd });
  return { cwd };
}

it("001.8 `strata skill check` says what is wrong with a skill, with its file and line", async () => {
  const bad = "---\nname: Other\ndescription: x\ncolour: red\n---\nDo.\n";
  const around = await withSkills({ invoicing: GOOD, bad });
  const good = await strata(["skill", "check", "skills/invoicing/SKILL.md"], around);
  expect([good.code, good.out]).toEqual([0, "invoicing is a skill of the open standard: Writes invoices.\n"]);
  const { code, out, err } = await strata(["skill", "check", "skills/bad/SKILL.md"], around);
  expect(code).not.toBe(0);
  expect(out).toContain("skills/bad/SKILL.md:2: `name` must be small letters and digits");
  expect(out).toContain("skills/bad/SKILL.md:4: the standard knows no key `colour`");
  expect(err).toContain("skills/bad/SKILL.md is not a skill of the open standard");
});

it("001.8 `strata skill list` and the doctor name the skills of folders, and those that could not be taken", async () => {
  const around = await withSkills({ invoicing: GOOD, bad: "Just do it." });
  const file = join(around.cwd, "strata.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}    skillFolders: {read: [skills]}\n`);
  const { out, err } = await strata(["skill", "list"], around);
  expect(out).toMatch(/^invoicing +/m);
  expect(err + out).toContain("skills/bad/SKILL.md is left out: line 1: it has no head");
  await strata(["chat", "workbench"], { ...around, input: "hi\n" });
  const doctor = (await strata(["doctor"], around)).out.replaceAll(/\s+/g, " ");
  expect(doctor).toContain("workbench: 1 skill in folders");
  expect(doctor).toContain("skills/bad/SKILL.md is left out: line 1: it has no head");
  expect(doctor).toContain("of 1 read in the last turns 0 came from the cache");
});

it("001.8 a skill that is added waits for an operator's word, unless it is the operator's own", async () => {
  const around = await withSkills({ invoicing: GOOD, haggling: GOOD.replaceAll("invoicing", "haggling") });
  const composed = async () => (await strata(["compose", "workbench", "--message", "hi"], around)).out;
  const added = await strata(["skill", "add", "skills/invoicing/SKILL.md"], around);
  expect(added.out).toContain(
    "Version 1 of invoicing waits for an operator: `strata layer approve skills 1 --skill invoicing`",
  );
  expect(await composed()).not.toContain("invoicing");
  const listed = (await strata(["skill", "list"], around)).out;
  expect(listed).toMatch(/^invoicing +waits for approval +0 +/m);
  expect(listed).toContain("`strata skill approve invoicing` enables what waits of invoicing");
  expect((await strata(["skill", "show", "invoicing"], around)).out).toContain("invoicing, waits for approval,");
  const approved = await strata(["skill", "approve", "invoicing"], around);
  expect([approved.code, approved.err]).toEqual([0, ""]);
  expect(await composed()).toContain("- invoicing: Writes invoices.");
  expect(await composed()).not.toContain("Write number, date and sum.");
  const mine = await strata(["skill", "add", "skills/haggling/SKILL.md", "--mine"], around);
  expect(mine.out).toContain("Version 1 of haggling is active");
  expect(await composed()).toContain("- haggling: Writes invoices.");
  expect((await strata(["skill", "list"], around)).out).toMatch(/^haggling +.*\n?(?:.*\n)*invoicing/m);
});

it("001.8 a folder may be added with its files, which the agent then reads without the folder", async () => {
  const around = await withSkills({ haggling: GOOD.replace("invoicing", "haggling") });
  const checked = await strata(["skill", "check", "skills/haggling/"], around);
  expect(checked).toMatchObject({ code: 0, out: expect.stringContaining("haggling is a skill of the open standard") });
  mkdirSync(join(around.cwd, "skills/haggling/references"));
  writeFileSync(join(around.cwd, "skills/haggling/references/a.md"), "Offer half.");
  const added = await strata(["skill", "add", "skills/haggling", "--mine"], around);
  expect(added).toMatchObject({ code: 0, err: "", out: expect.stringContaining("Version 1 of haggling is active") });
  rmSync(join(around.cwd, "skills"), { recursive: true });
  const input = 'Use load_skill {"name": "haggling"}\nUse load_skill {"name": "haggling", "path": "references/a.md"}\n';
  const { out } = await strata(["chat"], { ...around, input });
  expect(out).toContain("Files of this skill, read with `path`: references/a.md");
  expect(out).toContain("Offer half.");
  expect((await strata(["verify"], around)).out).toContain("The record is complete and unchanged.");
  mkdirSync(join(around.cwd, "skills"));
  expect((await strata(["skill", "add", "skills"], around)).err).toContain("skills/SKILL.md cannot be read");
});

it("001.8 other files for a text that was approved wait for a word of their own", async () => {
  const around = await withSkills({ haggling: GOOD.replace("invoicing", "haggling") });
  const file = join(around.cwd, "skills/haggling/a.md");
  const asked = async () =>
    (await strata(["chat"], { ...around, input: 'Use load_skill {"name": "haggling", "path": "a.md"}\n' })).out;
  writeFileSync(file, "Offer half.");
  await strata(["skill", "add", "skills/haggling", "--mine"], around);
  writeFileSync(file, "Offer nothing.");
  const again = await strata(["skill", "add", "skills/haggling"], around);
  expect(again.err).toBe("");
  expect(again.out).toContain("Version 2 of haggling waits for an operator");
  expect((await strata(["skill", "list"], around)).out).toMatch(/^haggling +enabled, a new text waits +1 /m);
  expect(await asked()).toContain("Offer half.");
  await strata(["layer", "approve", "skills", "2", "--skill", "haggling"], around);
  expect(await asked()).toContain("Offer nothing.");
  expect((await strata(["skill", "add", "skills/haggling"], around)).err).toContain("says that already");
});

it("001.8 a long skill of the standard may be added, and what is none is refused with its lines", async () => {
  const long = `${GOOD}${"Another line of it.\n".repeat(200)}`;
  const around = await withSkills({ invoicing: long, none: "Just do it.\n" });
  expect((await strata(["skill", "add", "skills/invoicing/SKILL.md", "--mine"], around)).err).toBe("");
  const { code, err } = await strata(["skill", "add", "skills/none/SKILL.md"], around);
  expect(code).not.toBe(0);
  expect(err).toContain("this is not a skill of the open standard: line 1: it has no head");
});
