import { configSchema } from "../src/app/entry/agents.ts";
import { sectionsOf } from "./json-schema.ts";

/** The page of the JSON Schema: what it is for and how an editor takes it. */
export function schemaPage(): string {
  const sections = sectionsOf(configSchema(), "the file");
  const keys = sections.reduce((sum, { rows }) => sum + rows.length, 0);
  return `# The schema of strata.yaml

This page belongs to the schema; \`npm run fix\` writes both.

[\`schema/strata.schema.json\`](../schema/strata.schema.json) is a JSON Schema (draft 2020-12) of \`strata.yaml\`: ${keys} keys in
${sections.length} objects, each with its meaning. It is generated from the schema that Strata parses the file with, so an editor that uses it
completes keys, shows their meaning and underlines what Strata would refuse. [strata.yaml](configuration.md) shows the same as a
page.

## Any editor with the YAML language server

VS Code (extension \`redhat.vscode-yaml\`), Neovim, Helix, Zed, Emacs and others: add one line at the top of the file with the path of the
schema, relative to the file.

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/strata/schema/strata.schema.json
\`\`\`

In a checkout of Strata, use \`schema/strata.schema.json\`.

## VS Code, for a whole folder

In \`.vscode/settings.json\`:

\`\`\`json
{
  "yaml.schemas": {
    "./node_modules/strata/schema/strata.schema.json": ["strata.yaml"]
  }
}
\`\`\`

## JetBrains

Settings, *Languages & Frameworks*, *Schemas and DTDs*, *JSON Schema Mappings*: add the file, draft 2020-12, and map it to
\`strata.yaml\`.

## In a program

The package exports it as \`strata/schema\`:

\`\`\`js
import schema from "strata/schema" with { type: "json" };
\`\`\`

## What it cannot check

The schema cannot check that ranks and ids are unique per agent, that files exist, that tools and sources are known, and that the lock
matches. \`strata doctor\` checks these, and so does every start.
`;
}
