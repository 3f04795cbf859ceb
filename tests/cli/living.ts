import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { allParts } from "../../src/app/entry/features.ts";
import { openApp, recordFile } from "../../src/app.ts";
import {
  agentName,
  contactId,
  digestOf,
  layerId,
  type NewText,
  orgId,
  trusted,
  untrusted,
} from "../../src/protocol/index.ts";
import { openSqlite } from "../../src/store/index.ts";
import { place, strata } from "./strata.ts";

const YAML = `organization: home
model: rehearsal
agents:
  automaton:
    description: It lives by itself.
    history: log
    soul: patient-gardener
    skills:
      - { name: haggling, text: Name a price once., enabled: false }
      - { name: invoicing, text: "Write number, date and sum." }
    life:
      credits: { low: 5, critical: 1 }
    layers:
      - { id: precedence, rank: 0, text: A lower layer wins. }
      - { id: identity, rank: 3, text: You are an automaton. }
      - { id: soul, rank: 12, source: soul, after: identity }
      - { id: loop, rank: 6, mutability: versioned, text: "Look, weigh, act." }
      - { id: skills, rank: 11, source: skills }
      - { id: vitals, rank: 10, source: vitals }
      - { id: conversation, rank: 10, source: conversation }
`;

/** A folder with an agent that lives by itself, locked. */
export async function living(): Promise<string> {
  const cwd = place();
  writeFileSync(join(cwd, "strata.yaml"), YAML);
  await strata(["lock"], { cwd });
  return cwd;
}

/** What the automaton would have written itself, in a turn with somebody: a proposal for its layer. */
export async function proposed(cwd: string, text: string, contact = "ann"): Promise<void> {
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env: {} });
  await app.close();
  const store = await openSqlite(recordFile(join(cwd, ".strata")), { parts: await allParts() });
  const edit: NewText = {
    layer: layerId("loop"),
    text: trusted(text),
    status: "proposed",
    trust: "agent",
    inputs: "contact",
    by: "agent",
    reason: untrusted("it reads better"),
    verdict: { verdict: "review", findings: ["it allows what only the layers above may allow"] },
    parent: 0,
    place: { rank: 6, source: "text", declared: digestOf("Look, weigh, act.") },
    beside: [],
  };
  const scope = { org: orgId("home"), agent: agentName("automaton"), contact: contactId(contact) };
  await store.editText(scope, edit, Date.now());
  await store.close();
}
