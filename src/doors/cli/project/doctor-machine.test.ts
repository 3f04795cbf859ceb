import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OLDEST_NODE } from "./doctor-machine.ts";

it("the doctor asks for the Node that package.json asks for", () => {
  const { engines }: { engines: { node: string } } = JSON.parse(
    readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"),
  );
  expect(engines.node).toBe(`>=${OLDEST_NODE.join(".")}`);
});
