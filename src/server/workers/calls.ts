import type { Config } from '../../config/index.ts';
import type {
  AcceptedTransaction,
  CallLimits,
  KeyChanges,
  Lease,
  WantedLease,
} from '../../ethereum/gateway/index.ts';
import type { HeadChange } from '../../ethereum/ingest/index.ts';
import type { NodeLease, NodeRemoval, WantedNodeLease } from '../../ethereum/nodes/index.ts';
import type { BlockRange, DamagedPart, MaybePromise } from '../../ethereum/traces/index.ts';
import type { BudgetClient } from '../../platform/budgets/index.ts';
import type { MetricJson } from '../../platform/metrics/index.ts';
import type { GatewayAccess } from '../console/consoleGateway.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import type { Link } from './link.ts';

/** A configuration, and the number of workers. That of a worker contains its share of the limits. */
export interface Beginning {
  readonly config: Config;
  readonly workers: number;
}

interface OfNetwork {
  readonly network: string;
}

interface OfNode extends OfNetwork {
  /** Array index of the node in the network's configured list of nodes. */
  readonly node: number;
}

/** Calls that workers accept from the first process. */
export type WorkerCalls = {
  /** Resolves with the worker's address when it listens. The current state and keys are sent before this call. */
  begin(beginning: Beginning): Promise<{ readonly url: string }>;
  /** Does nothing. The reply proves that the worker's event loop runs. */
  ping(nothing: undefined): void;
  state(changed: OfNetwork & { readonly state: NetworkState }): void;
  /** API keys, if they are stored in a database; not called if they are in the data folder. */
  keys(changes: KeyChanges): void;
  followed(change: OfNetwork & { readonly change: HeadChange }): void;
  accepted(transaction: AcceptedTransaction & OfNetwork): void;
  /** Replies when the worker sees everything that the first process wrote to stores or sent before this call. */
  settle(nothing: undefined): void;
  metrics(nothing: undefined): Promise<readonly MetricJson[]>;
  /** Closes listener, connections and stores. If `isGentle`, each connection closes after its next response. */
  leave(how: { readonly isGentle: boolean; readonly timeoutMs: number }): Promise<readonly MetricJson[]>;
};

/** Calls that the first process accepts from its workers. */
export type PrimaryCalls = {
  /** Sent when the worker's code is loaded. */
  up(nothing: undefined): void;
  /** Polls a node now. Replies after the result was sent to all workers. */
  poll(node: OfNode): Promise<void>;
  /** Does nothing. Messages arrive in order, so the reply follows all state that the first process sent before it. */
  newest(nothing: undefined): void;
  /** Reports that a node is unhealthy or, if `why` is undefined, that its chain must be verified again. */
  found(node: OfNode & { readonly why: NodeRemoval | undefined }): void;
  /** Reports damage that a worker has read in the index of the data folder. */
  damaged(found: OfNetwork & { readonly part: DamagedPart }): void;
  /** Indexes a range of blocks for a client, like `IndexFiller.ensure`. */
  ensure(range: OfNetwork & BlockRange & { readonly client: BudgetClient }): Promise<void>;
  /** Counts blocks that a worker fetches for a client, like `IndexFiller.charge`. */
  charge(fetched: OfNetwork & { readonly blocks: number; readonly client: BudgetClient }): MaybePromise<void>;
  /** Returns the gateway access of the console session with this secret; undefined if the session has ended. */
  consoleAccess(secret: string): Promise<GatewayAccess | undefined>;
  /** Reports a transaction that a node accepted. Replies when all workers know it. */
  accepted(transaction: AcceptedTransaction & OfNetwork): Promise<void>;
  take(wanted: WantedLease): Lease;
  takeOfNode(wanted: OfNode & WantedNodeLease): NodeLease;
  /** Replies when a slot for a trace at a node is free for the client. The worker then uses it until `endTraceSlot`. */
  takeTraceSlot(wanted: OfNode & { readonly client: BudgetClient; readonly id: string }): Promise<void>;
  /** Ends the use of a slot, or the wait for one. */
  endTraceSlot(id: string): void;
  /** Starts or stops sending the worker the changes of a network's index, which are large and rarely needed. */
  wantChanges(wanted: OfNetwork & { readonly areWanted: boolean }): void;
  /** Calls a filter method, such as `eth_newFilter`, for a client over HTTP. Parameters are in canonical form. */
  filter(call: {
    readonly network: string;
    readonly method: string;
    readonly params: readonly unknown[];
    readonly credential: string | undefined;
    readonly address: string;
    readonly keyId: string | undefined;
    readonly limits: CallLimits;
  }): Promise<Uint8Array>;
};

/** A worker's link to the first process. */
export type ToPrimary = Link<WorkerCalls, PrimaryCalls>;
