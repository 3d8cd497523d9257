import type { Trace } from '../index.ts';
import type { BlockRules } from './chains/blockRules.ts';
import { precompilesUnder } from './chains/precompiles.ts';
import { asFrameList } from './frame.ts';
import { FrameReader } from './frameReader.ts';
import { namePrecompileFailures } from './geth/namePrecompileFailures.ts';
import { ranPrecompile } from './geth/ranPrecompile.ts';
import { isPrecheckFailure, removeFrames } from './geth/removeFrames.ts';
import { restoreDestroyed } from './geth/restoreDestroyed.ts';

type PrecompileRules = Pick<BlockRules, 'precompiles' | 'isAssumed'>;

const NEWEST: PrecompileRules = { precompiles: precompilesUnder('osaka'), isAssumed: true };

/**
 * Converts a `trace_block` result of Erigon, Nethermind, Besu, Reth, anvil, OpenEthereum or Parity to canonical
 * traces; docs/reference/nodes.md lists how these nodes differ. The traces share arrays with the result, so the
 * caller must not use the result afterwards.
 *
 * @param answer the parsed `result`.
 * @param rules the rules of the block. Default: those of Osaka, assumed.
 * @throws TraceFormatError naming the trace and the member if the result is not a list of traces.
 */
export function parseTraceBlock(answer: unknown, rules: PrecompileRules = NEWEST): Trace[] {
  const traces = readTraces(answer);
  restoreDestroyed(traces);
  namePrecompileFailures(traces, rules.precompiles);
  return removeFrames(traces, (trace) => isPrecheckFailure(trace) || ranPrecompile(trace, rules));
}

/** Returns traces that are in canonical form already. @throws TraceFormatError unless they are a list of traces. */
export function readTraces(answer: unknown): Trace[] {
  const list = asFrameList(answer, { what: 'trace_block', index: -1 }, '');
  const reader = new FrameReader();
  const traces: Trace[] = [];
  for (let i = 0; i < list.length; i++) {
    const trace = reader.read(list[i], i);
    if (trace) traces.push(trace);
  }
  return traces;
}
