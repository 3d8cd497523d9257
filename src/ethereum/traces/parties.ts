import type { Address, Trace } from './trace.ts';

/** The sender and the recipient by which a filter can match a trace; null if the trace has none. */
export interface Parties {
  readonly from: Address | null;
  readonly to: Address | null;
}

/**
 * Returns a trace's sender and recipient by the trace draft (docs/reference/trace-filter.md). The recipient of a
 * creation is the contract, or null if the creation failed. The sender of a destruction is the contract, the
 * recipient is the refund address. A reward has no sender.
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
