import { dispatcherContract } from "./dispatcher.contract.ts";
import { inProcess } from "./index.ts";

dispatcherContract(inProcess);
