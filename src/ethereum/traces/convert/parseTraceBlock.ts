import type { Trace } from '../index.ts';
import { asFrameList } from './frame.ts';
import { FrameReader } from './frameReader.ts';
import { namePrecompileFailures } from './geth/namePrecompileFailures.ts';
import { isIdleCall, isValuelessPrecompileCall, precompilesUnder } from './geth/precompiles.ts';
import { isPrecheckFailure, removeFrames } from './geth/removeFrames.ts';
import { restoreDestroyed } from './geth/restoreDestroyed.ts';

/**
 * Converts a `trace_block` result of Erigon, Nethermind, Besu, Reth, anvil, OpenEthereum or Parity to canonical
 * traces; docs/reference/nodes.md lists how these nodes differ. The traces share arrays with the result, so the
 * caller must not use the result afterwards.
 *
 * @param answer the parsed `result`.
 * @throws TraceFormatError naming the trace and the member if the result is not a list of traces.
 */
export function parseTraceBlock(answer: unknown): Trace[] {
  const list = asFrameList(answer, { what: 'trace_block', index: -1 }, '');
  const reader = new FrameReader();
  const traces: Trace[] = [];
  for (let i = 0; i < list.length; i++) {
    const trace = reader.read(list[i], i);
    if (trace) traces.push(trace);
  }
  restoreDestroyed(traces);
  namePrecompileFailures(traces, PRECOMPILES);
  return removeFrames(traces, (trace) => isPrecheckFailure(trace) || ranPrecompile(trace));
}

const PRECOMPILES = precompilesUnder('osaka');

/**
 * Returns whether a trace is a call without value that a precompiled contract executed. Before the fork that adds the
 * contract, the call is to an empty account, so its trace must stay.
 */
const ranPrecompile = (trace: Trace): boolean =>
  isValuelessPrecompileCall(trace, PRECOMPILES) && !isIdleCall(trace);
