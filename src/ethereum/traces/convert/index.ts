/**
 * Converts untrusted responses of nodes to canonical traces. All types, lengths, depths and sizes are validated, and
 * errors name what is wrong. The functions are pure: no I/O, no clock, no state between calls.
 */
export { blockRulesAt } from './chains/blockRules.ts';
export type { ChainRules } from './chains/chainRules.ts';
export { chainRulesOf } from './chains/chainRulesOf.ts';
export { parseForkConfig } from './chains/forkConfig.ts';
export { type Fork, type ForkStart, isForkActive } from './chains/forks.ts';
export { precompilesAt } from './chains/precompilesAt.ts';
export { BlockMismatchError } from './check/blockMismatchError.ts';
export { blockRewards } from './check/blockRewards.ts';
export { checkBlock } from './check/checkBlock.ts';
export { checkReceipts } from './check/checkReceipts.ts';
export {
  chooseTraceMethod,
  type ProbeResponses,
  type TraceMethod,
  type TraceMethodChoice,
} from './chooseTraceMethod.ts';
export { type BlockAnswers, convertBlock } from './convertBlock.ts';
export { FIRST_STEP } from './geth/firstSteps.ts';
export { fromCallTracer } from './geth/fromCallTracer.ts';
export { fromFlatCallTracer } from './geth/fromFlatCallTracer.ts';
export { chargeCalls, type HiddenCharges, hiddenCharges } from './geth/runtimeCharges.ts';
export { TraceFormatError } from './json/traceFormatError.ts';
export { type FullHeader, parseHeader } from './parseHeader.ts';
export { parseTraceBlock, readTraces } from './parseTraceBlock.ts';
export { type FullBlock, parseTransactions } from './parseTransactions.ts';
