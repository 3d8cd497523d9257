import type { Trace } from '../index.ts';
import { asFrameList, ZERO } from './frame.ts';
import { FrameReader } from './frameReader.ts';
import { namePrecompileFailures } from './namePrecompileFailures.ts';
import { isIdlePrecompileCall, precompilesUnder } from './precompiles.ts';
import { isPrecheckFailure, removeFrames } from './removeFrames.ts';
import { restoreDestroyed } from './restoreDestroyed.ts';

/**
 * The canonical traces of a block from a node's answer to `trace_block`: Erigon, Nethermind, Besu, Reth, anvil,
 * OpenEthereum and Parity, whose differences docs/nodes.md lists. Takes the answer over: its arrays become part of the
 * traces.
 *
 * @param answer the `result` of the response, parsed.
 * @throws TraceFormatError naming the trace and the member where the answer is not a list of traces.
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

/** Every precompiled contract that Ethereum has. */
const PRECOMPILES = precompilesUnder('osaka');

/**
 * Whether the frame is a call without value that a precompiled contract carried out. Before the fork that brought the
 * contract the same call finds an empty account: it costs nothing, gives nothing, and is a frame. That tells the two
 * apart without knowing the chain's forks (all but the modular exponentiation of nothing, free until Berlin).
 */
function ranPrecompile(trace: Trace): boolean {
  if (trace.type !== 'call' || !isIdlePrecompileCall(trace, PRECOMPILES)) return false;
  const { result } = trace;
  return result === null || result.gasUsed !== ZERO || result.output !== '0x';
}
