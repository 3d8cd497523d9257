export type {
  AddressSummary,
  AddressTracesPage,
  CreateTrace,
  Trace,
} from '../../../../src/exports/client/types.ts';

import type { Trace } from '../../../../src/exports/client/types.ts';

/** A trace that a subscription sent. If its block is replaced, the trace is sent again with `removed: true`. */
export type PushedTrace = Trace & { readonly removed: boolean };

export interface BlockHeader {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly miner: string;
  readonly gasUsed: string;
  readonly gasLimit: string;
  readonly transactions: readonly string[];
}
