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
  readonly baseFeePerGas?: string;
  readonly transactions: readonly string[];
}

/** Members of a transaction that the page shows. A pending transaction has no block. */
export interface Transaction {
  readonly blockHash: string | null;
  readonly from: string;
  readonly to: string | null;
  readonly value: string;
  readonly input: string;
  readonly nonce: string;
  readonly gas: string;
  readonly type?: string;
}

export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
}

export interface Receipt {
  readonly blockHash: string;
  /** Absent before Byzantium. */
  readonly status?: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice?: string;
  readonly blobGasUsed?: string;
  readonly blobGasPrice?: string;
  readonly l1Fee?: string;
  readonly contractAddress: string | null;
  readonly logs: readonly Log[];
}
