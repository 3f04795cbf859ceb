import { expect, it } from "vitest";
import { isTestFile, readFiles } from "../../checks/files.ts";
import { frame } from "../../src/guard/index.ts";
import { tokenCounter } from "../../src/models/index.ts";
import {
  CONTEXT_KINDS,
  type FrameKind,
  framedAbove,
  OUTSIDE_KINDS,
  ownKind,
  PROOFS,
  TRUSTS,
  untrusted,
} from "../../src/protocol/index.ts";

const AT = Date.parse("2026-11-21T09:30:00Z");
/** What features post: each declares its kinds where it posts them. */
const OWN_KINDS = readFiles((path) => path.startsWith("src/") && path.endsWith(".ts") && !isTestFile(path))
  .flatMap(({ text }) => [...text.matchAll(/\bownKind\("([a-z-]+)"\)/g)])
  .map(([, kind = ""]) => ownKind(kind));
/** Frames that hold no event cannot leave the day to the one above them; there is one `earlier` for each cut. */
const MOST: Readonly<Record<(typeof CONTEXT_KINDS)[number], number>> = {
  memory: 11,
  summary: 11,
  earlier: 12,
  data: 15,
  result: 3,
};

it("29.6 the header of an event has at most ten tokens, whatever its kind and whoever sent it: one more if it is signed, and for a kind of two words", async () => {
  const count = await tokenCounter({ factor: 1 });
  const header = (kind: FrameKind, who: Partial<Parameters<typeof frame>[0]>): number => {
    const one = { kind, trust: "contact", at: AT, ...who } as const;
    const above = framedAbove(frame(one, untrusted("x")));
    const [line = "", ...rest] = frame(one, untrusted("x"), undefined, above).split("\n");
    expect(rest).toEqual(["| x"]);
    return count(`${line}\n`);
  };
  expect(OWN_KINDS.length).toBeGreaterThan(5);
  for (const trust of TRUSTS) {
    for (const kind of [...OUTSIDE_KINDS, ...OWN_KINDS]) {
      const most = kind.split("-").length + 9;
      expect(header(kind, { trust }), `${kind} ${trust}`).toBeLessThanOrEqual(most);
      for (const proof of PROOFS)
        expect(header(kind, { trust, proof }), `${kind} ${proof}`).toBeLessThanOrEqual(most + 1);
    }
    for (const kind of CONTEXT_KINDS)
      expect(header(kind, { trust }), `${kind} ${trust}`).toBeLessThanOrEqual(MOST[kind]);
  }
});
