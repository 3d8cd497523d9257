import type { Address, Trace } from '../../index.ts';
import { precompileErrorName } from '../errorName.ts';

/** Replaces the errors of failed calls to precompiled contracts by Parity's names. Changes the array `traces`. */
export function namePrecompileFailures(traces: Trace[], precompiles: ReadonlySet<Address>): void {
  for (let i = 0; i < traces.length; i++) {
    const trace = traces[i];
    if (trace?.type !== 'call' || trace.error === undefined || !precompiles.has(trace.action.to)) continue;
    const error = precompileErrorName(trace.error);
    if (error !== trace.error) traces[i] = { ...trace, error, result: null };
  }
}
