export type {
  AddressSummary,
  AddressTracesPage,
  CreateTrace,
  Trace,
} from '../../../../src/library/client/types.ts';

import type { Trace } from '../../../../src/library/client/types.ts';

/** A trace as it is pushed: again, with `removed`, where its block was replaced. */
export type PushedTrace = Trace & { readonly removed: boolean };

/** What the page reads of a block. */
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
