import {
  checkBlock,
  forkScheduleOf,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
} from '../../src/traces/convert/index.ts';
import type { Trace } from '../../src/traces/trace.ts';
import type { AnvilBlock, GethBlock } from './sameTraffic.ts';

/** Both nodes run the rules that Floodgate takes any development chain to have. */
const SCHEDULE = forkScheduleOf(31_337);

/** What Floodgate would index of anvil's blocks, checked as before it is written. */
export function indexedOfAnvil(blocks: readonly AnvilBlock[]): Trace[] {
  return blocks.flatMap(({ block, traceBlock }) => {
    const traces = parseTraceBlock(structuredClone(traceBlock));
    checkBlock(parseHeader(block), traces);
    return traces;
  });
}

/** What Floodgate would index of geth's blocks by way of one of its tracers. */
export function indexedOfGeth(
  blocks: readonly GethBlock[],
  tracer: 'callTracer' | 'flatCallTracer',
): Trace[] {
  const convert = tracer === 'callTracer' ? fromCallTracer : fromFlatCallTracer;
  return blocks.flatMap((block) => {
    const header = parseHeader(block.block);
    const answer = structuredClone(block[tracer]);
    const traces = convert(header, parseTransactions(block.block), answer, SCHEDULE);
    checkBlock(header, traces);
    return traces;
  });
}

/**
 * A trace without its block, without how much gas a root used, which geth does not tell exactly, and without the name
 * of a failure that was no revert: where a frame fails in two ways at once, the nodes check in different order.
 */
export function comparable(trace: Trace): unknown {
  const { blockHash: _, blockNumber: __, transactionPosition: ___, ...rest } = trace;
  const isFailed = trace.type !== 'reward' && trace.error !== undefined;
  const failure = isFailed ? { error: trace.error === 'Reverted' ? 'Reverted' : 'another' } : {};
  if (trace.traceAddress.length > 0 || trace.result === null) return { ...rest, ...failure };
  return { ...rest, ...failure, result: { ...trace.result, gasUsed: '' } };
}

/** How much gas each transaction's frames used, by the transaction's hash; without those that failed for good. */
export function executionGas(traces: readonly Trace[]): Map<string, number> {
  const gas = new Map<string, number>();
  for (const { result, traceAddress, transactionHash } of traces)
    if (traceAddress.length === 0 && transactionHash !== null && result !== null)
      gas.set(transactionHash, Number(result.gasUsed));
  return gas;
}
