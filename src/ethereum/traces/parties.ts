import type { Address, Trace } from './trace.ts';

/** The two addresses that a filter can match a trace by; null where the trace has no such side. */
export interface Parties {
  readonly from: Address | null;
  readonly to: Address | null;
}

/**
 * Who a trace is from and to, as the trace draft has it (docs/trace-filter.md):
 * a creation's `to` is the created contract, and only where the creation succeeded; a destruction goes from
 * the destroyed contract to the refund address; a reward has no sender.
 */
export function partiesOf(trace: Trace): Parties {
  switch (trace.type) {
    case 'call':
      return { from: trace.action.from, to: trace.action.to };
    case 'create': {
      const { result } = trace;
      const isCreated = trace.error === undefined && result !== null && 'address' in result;
      return { from: trace.action.from, to: isCreated ? result.address : null };
    }
    case 'suicide':
      return { from: trace.action.address, to: trace.action.refundAddress };
    case 'reward':
      return { from: null, to: trace.action.author };
  }
}
