import type { Address } from '../../index.ts';
import type { BlockTransaction } from '../parseTransactions.ts';
import type { ReportedRules } from './forkConfig.ts';
import type { ForkStarts } from './forks.ts';

/** How the traces of a chain differ from those of a chain that follows Ethereum. One file for each network has them. */
export interface ChainRules {
  /** Name of the network, for operators. */
  readonly name: string;
  /** Forks on which intrinsic gas, precompiled contracts and rewards depend. */
  readonly starts: ForkStarts;
  /** `true` if `starts` are assumed, because the forks of the chain are not known. */
  readonly areForksAssumed: boolean;
  /** Rules that the node of the chain reports, oldest first. Default: it reports none. */
  readonly reported?: readonly ReportedRules[];
  /**
   * Source of rewards. `scheduled`: mined blocks have those of the fork, other blocks none. `node`: any that a
   * node lists, so only `trace_block` is complete. `optional`: like `node`, but usually there are none.
   */
  readonly rewards: 'scheduled' | 'node' | 'optional';
  /** What differs on this chain, and which values are not exact, in sentences for operators. */
  readonly remarks: readonly string[];
  /** Why no block of the chain can be indexed. Default: blocks can be indexed. */
  readonly unsupported?: string;
  /** Transactions that the network itself executes. Some nodes list no frames for them. Default: there are none. */
  readonly systemTransaction?: {
    readonly matches: (transaction: BlockTransaction) => boolean;
    /** Sender and recipient of the root frame, which differ from those of the transaction. */
    readonly root: { readonly from: Address; readonly to: Address };
  };
  /** Whether frames of type INVALID are transfers of value by the network. */
  readonly hasInvalidFrames?: boolean;
  /** Whether a root of type STOP stands for a transaction without frames. */
  readonly hasStopRoots?: boolean;
}
