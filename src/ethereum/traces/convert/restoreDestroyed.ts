import type { Address, Trace } from '../index.ts';

/** Nobody: no contract stands there, so nothing can destroy itself there. */
export const NOBODY = `0x${'0'.repeat(40)}` as Address; // 20 bytes of lower-case hex

/**
 * Names the contract in each destruction that a node gives without names. The Rust EVM (anvil, Reth) does where a
 * contract destroys itself in favour of itself and, since Cancun, nothing happens: all its members are zero then
 * (bluealloy/revm #3834). The contract is the one that the parent frame runs, and the refund address the same; its
 * balance stays zero, as no node tells it.
 *
 * @param traces frames in pre-order; those that are named anew are replaced.
 */
export function restoreDestroyed(traces: Trace[]): void {
  /** The frame at each depth of the current path. */
  const path: Trace[] = [];
  for (let i = 0; i < traces.length; i++) {
    const trace = traces[i];
    if (trace === undefined) continue;
    const depth = trace.traceAddress.length;
    path[depth] = trace;
    if (trace.type !== 'suicide' || trace.action.address !== NOBODY) continue;
    const address = accountRunBy(path[depth - 1]);
    if (address !== undefined)
      traces[i] = { ...trace, action: { address, balance: trace.action.balance, refundAddress: address } };
  }
}

/** The account in whose name a frame's code runs; undefined where the frame does not tell. */
function accountRunBy(frame: Trace | undefined): Address | undefined {
  if (frame?.type === 'create')
    return frame.result && 'address' in frame.result ? frame.result.address : undefined;
  if (frame?.type !== 'call') return undefined;
  const { callType, from, to } = frame.action;
  return callType === 'delegatecall' || callType === 'callcode' ? from : to;
}
