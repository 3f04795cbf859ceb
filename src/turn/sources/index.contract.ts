/** A real chain for the tests of those who show what an account holds. */
export { type LocalChain, localChain } from "./evm/local-chain.contract.ts";
