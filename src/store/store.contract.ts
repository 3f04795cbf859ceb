import { agentContract } from "./contract/agents.contract.ts";
import { batchContract } from "./contract/batches.contract.ts";
import { callContract } from "./contract/calls.contract.ts";
import { forkContract } from "./contract/forks.contract.ts";
import { isolationContract } from "./contract/isolation.contract.ts";
import { limitContract } from "./contract/limits.contract.ts";
import { mailContract } from "./contract/mail.contract.ts";
import { memoryContract } from "./contract/memories.contract.ts";
import { pageContract } from "./contract/pages.contract.ts";
import { recordContract } from "./contract/record.contract.ts";
import { rememberingContract } from "./contract/remembering.contract.ts";
import type { OpenStore } from "./contract/sample.contract.ts";
import { textContract } from "./contract/texts.contract.ts";
import { threadContract } from "./contract/threads.contract.ts";
import { turnContract } from "./contract/turns.contract.ts";
import { vectorContract } from "./contract/vectors.contract.ts";

/** What every store keeps, whatever database is behind it. `open` gives an empty store for each test. */
export function storeContract(open: OpenStore): void {
  threadContract(open);
  turnContract(open);
  isolationContract(open);
  memoryContract(open);
  rememberingContract(open);
  recordContract(open);
  limitContract(open);
  forkContract(open);
  vectorContract(open);
  textContract(open);
  agentContract(open);
  mailContract(open);
  batchContract(open);
  callContract(open);
  pageContract(open);
}
