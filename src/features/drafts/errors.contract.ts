import { project, strata } from "../../../tests/cli/strata.ts";
import { type Case, cli } from "../../../tests/errors/doors.ts";

const DRAFT = "drf_01jd8k3v5x9m2q7r4t6w8y0zab";

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "draft_not_found",
    when: "no draft has that id",
    provoke: async () => {
      const cwd = project();
      await strata(["memory", "save", "Tea."], { cwd });
      return cli(["draft", "show", DRAFT], { cwd });
    },
    message: [DRAFT, "strata draft list"],
  },
  {
    code: "draft_decided",
    when: "two people decide about one draft",
    provoke: async () => {
      const cwd = project((yaml) => yaml.replace("  companion:\n", "  companion:\n    delivery: { way: draft }\n"));
      await strata(["ask", "Are you open?"], { cwd });
      const { out } = await strata(["draft", "list", "--json"], { cwd });
      const [waiting]: readonly { readonly id: string }[] = JSON.parse(out);
      await strata(["draft", "discard", waiting?.id ?? ""], { cwd });
      return cli(["draft", "approve", waiting?.id ?? ""], { cwd });
    },
    message: [/drf_\w+/, "discarded"],
  },
];
