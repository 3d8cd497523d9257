export type {
  AddressSummary,
  AddressTracesPage,
  CreateTrace,
  Trace,
} from '../../../../src/exports/client/types.ts';

import type { Quantity, RpcBlock, RpcTransaction, RpcTransactionReceipt } from 'viem';
import type { Trace } from '../../../../src/exports/client/types.ts';

/** A trace that a subscription sent. If its block is replaced, the trace is sent again with `removed: true`. */
export type PushedTrace = Trace & { readonly removed: boolean };

export type BlockHeader = RpcBlock<'latest', false>;
export type Transaction = RpcTransaction;
/** A receipt. Rollups add the fee for the layer below. */
export type Receipt = RpcTransactionReceipt & { readonly l1Fee?: Quantity };
export type Log = Pick<Receipt['logs'][number], 'address' | 'topics' | 'data' | 'logIndex'>;
