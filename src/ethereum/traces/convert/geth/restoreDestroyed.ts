import type { Address, Trace } from '../../index.ts';
import { ZERO_ADDRESS } from '../frame.ts';

/**
 * Restores the addresses of destructions that a node reports with the zero address. revm (anvil, Reth) does so if a
 * contract names itself as beneficiary and the destruction has no effect, as is possible since Cancun
 * (bluealloy/revm #3834). The contract and the refund address are the account as which the parent frame runs. The
 * balance stays zero, because no node reports it.
 *
 * @param traces frames in pre-order. Changed frames are replaced in this array.
 */
export function restoreDestroyed(traces: Trace[]): void {
  const path: Trace[] = [];
  for (let i = 0; i < traces.length; i++) {
    const trace = traces[i];
    if (trace === undefined) continue;
    const depth = trace.traceAddress.length;
    path[depth] = trace;
    if (trace.type !== 'suicide' || trace.action.address !== ZERO_ADDRESS) continue;
    const address = accountRunBy(path[depth - 1]);
    if (address !== undefined)
      traces[i] = { ...trace, action: { address, balance: trace.action.balance, refundAddress: address } };
  }
}

/** Returns the account as which a frame's code runs, or undefined if it is unknown. */
function accountRunBy(frame: Trace | undefined): Address | undefined {
  if (frame?.type === 'create')
    return frame.result && 'address' in frame.result ? frame.result.address : undefined;
  if (frame?.type !== 'call') return undefined;
  const { callType, from, to } = frame.action;
  return callType === 'delegatecall' || callType === 'callcode' ? from : to;
}
