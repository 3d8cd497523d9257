/**
 * Room: whatever a node answers, as canonical traces, or an error that says what is wrong with it.
 * Pure functions: no I/O, no clock, nothing kept between calls.
 * A node's answer is never trusted: types, lengths, depths and sizes are all checked on the way in.
 */
export { BlockMismatchError } from './blockMismatchError.ts';
export { blockRewards } from './blockRewards.ts';
export { checkBlock } from './checkBlock.ts';
export {
  chooseTraceMethod,
  type ProbeResponse,
  type ProbeResponses,
  type TraceMethod,
  type TraceMethodChoice,
} from './chooseTraceMethod.ts';
export { type Fork, type ForkSchedule, type ForkStart, forkScheduleOf } from './forks.ts';
export { fromCallTracer } from './fromCallTracer.ts';
export { fromFlatCallTracer } from './fromFlatCallTracer.ts';
export { type FullHeader, parseHeader } from './parseHeader.ts';
export { parseTraceBlock } from './parseTraceBlock.ts';
export { parseTransactions } from './parseTransactions.ts';
export { TraceFormatError } from './traceFormatError.ts';
