/** Reads one XSD in a worker thread, while the program waits for it: see `compile-xsd.ts`. */
import { type MessagePort, workerData } from "node:worker_threads";
import { z } from "zod";
import type { CompiledXsd } from "./compile-xsd.ts";

const { xsd, type, flag, port } = z
  .object({
    xsd: z.string(),
    type: z.string().optional(),
    flag: z.instanceof(Int32Array),
    port: z.custom<MessagePort>((given) => typeof given === "object"),
  })
  .parse(workerData);

async function compiled(): Promise<CompiledXsd> {
  const { jsonSchemaOf, readXsd, withoutChoices } = await import("./read-xsd.ts");
  const { judgeOf } = await import("./judge.ts");
  const tree = readXsd(xsd, type);
  judgeOf(xsd, tree.root);
  const shown = jsonSchemaOf(withoutChoices(tree.node));
  return { root: tree.root, schema: jsonSchemaOf(tree.node), shown };
}

const outcome: CompiledXsd = await compiled().catch((thrown: unknown) => ({
  problem: thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown),
}));
port.postMessage(outcome);
Atomics.store(flag, 0, 1);
Atomics.notify(flag, 0);
