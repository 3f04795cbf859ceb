import { describe, expect, it } from "vitest";
import { brokenLinks, foreignWords, lockedToRegistry, unknownCommands } from "../../checks/docs.ts";
import { anchorsOf, npmCommandsOf } from "../../checks/markdown.ts";

const PATHS = ["README.md", "docs/guide.md", "docs/pictures/walk.svg"];

function links(path: string, ...lines: readonly string[]): string {
  const guide = { path: "docs/guide.md", text: "# The guide\n\n## First steps\n" };
  const page = { path, text: lines.join("\n") };
  return brokenLinks(path === guide.path ? [page] : [guide, page], PATHS).join("\n");
}

describe("links", () => {
  it("lead to files, folders and headings that exist", () => {
    const good = [
      "[a](docs/guide.md), [b](./docs/guide.md#first-steps), [c](docs/), ![d](docs/pictures/walk.svg)",
      '[e](https://example.com/x), [f](mailto:a@example.com), <img src="docs/pictures/walk.svg">',
      "[g]: docs/guide.md",
      "# Here",
      "[h](#here) and `[i](no/where.md)`",
      "```md",
      "[j](no/where.md)",
      "```",
    ];
    expect(links("README.md", ...good)).toBe("");
    expect(links("docs/guide.md", "[up](../README.md)")).toBe("");
  });

  it.each([
    ["[a](docs/gone.md)", "leads to docs/gone.md"],
    ["![a](walk.svg)", "leads to walk.svg"],
    ["[a]: docs/gone.md", "leads to docs/gone.md"],
    ['<a href="gone.html">', "leads to gone.html"],
    ["[a](docs/guide.md#last-steps)", "names no heading of docs/guide.md; it has the-guide, first-steps"],
    ["[a](#nowhere)", "names no heading of README.md"],
  ])("that break are named: %s", (line, problem) => {
    expect(links("README.md", "text", line)).toContain(problem);
    expect(links("README.md", "text", line)).toContain("README.md:2:");
  });
});

describe("anchors", () => {
  it("are what GitHub makes of headings", () => {
    const page =
      '# What `strata explain` shows\n## A & B: 1.2\n## [Linked](x.md) _word_\n## A & B: 1.2\n<a id="by-hand"></a>\n```\n# no heading\n```';
    expect([...anchorsOf(page)]).toEqual([
      "what-strata-explain-shows",
      "a--b-12",
      "linked-_word_",
      "a--b-12-1",
      "by-hand",
    ]);
  });
});

describe("commands", () => {
  it("of npm are found in blocks and in sentences", () => {
    const page =
      "Say `npm run -s strata -- explain` or `npm ci`.\n```sh\n$ npm start\nCI=true npm test -- src && npm run fix\nnpx strata\n```\nnpm run prose\n";
    expect(npmCommandsOf(page).map(({ script, line }) => `${line} ${script}`)).toEqual([
      "1 strata",
      "3 start",
      "4 test",
      "4 fix",
    ]);
  });

  it("that package.json does not know are named", () => {
    const page = { path: "README.md", text: "```\nnpm run strat -- init\n```" };
    expect(unknownCommands([page], ["strata"])).toEqual([
      'README.md:2: "npm run strat -- init" runs the script "strat", which package.json does not have',
    ]);
  });
});

describe("what holds on one machine only", () => {
  it("is named", () => {
    const words = [`see ${"/wo"}rk/main/src`, `from https://${"registry.npm"}js.org/x`, `in a${"/.lib"}rary/b`];
    const files = words.map((text, index) => ({ path: `${index}.md`, text }));
    expect(foreignWords(files)).toHaveLength(3);
    expect(foreignWords([{ path: "a.md", text: `the ${"net"}work/ and home/${"work"}/x` }])).toEqual([]);
  });

  it("does not stand in the lock file", () => {
    const file = (text: string) => [{ path: "package-lock.json", text }];
    expect(lockedToRegistry(file('{ "version": "1.0.0" }'))).toEqual([]);
    expect(lockedToRegistry(file('{ "resolved": "https://example.com/a.tgz" }'))).toHaveLength(1);
  });
});
