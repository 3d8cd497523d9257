import type { CallLimits } from '../callLimits.ts';
import type { Handler, NodeCall } from '../method.ts';
import type { IndexServices } from '../traceIndex/traces/indexServices.ts';
import type { JsonSchema, ParamType } from './paramType.ts';
import type { BlockReference } from './referencedBlocks.ts';

export interface Param {
  readonly name: string;
  readonly kind: ParamType;
  /** True if the parameter may be omitted. `defaultValue` is its default value, if it has one. */
  readonly optional?: true;
  readonly defaultValue?: unknown;
  /** For an optional parameter: true if null is rejected. Otherwise null counts as omitted. */
  readonly refusesNull?: true;
  /** True if the parameter is a block hash. The result is then the same on every fork. */
  readonly isBlockHash?: true;
}

/**
 * State on which the result of a relayed method depends. It determines how long the result is cached and which nodes
 * may be asked.
 * - `constant`: The result never changes.
 * - `moment`: The result depends on the node and the time, and is never cached.
 * - `head`: The result depends on the latest block.
 * - `block`: The result depends on the block in parameter `param`. It is cached permanently if that block is final.
 * - `found`: The result depends on the block whose number is in member `member` of the result.
 * - `logs`: The result depends on the block range of the log filter.
 */
export type RelayScope =
  | { readonly of: 'constant' | 'moment' | 'head' | 'logs' }
  | { readonly of: 'block'; readonly param: number }
  | { readonly of: 'found'; readonly member: 'number' | 'blockNumber' };

/**
 * State on which the result of a method depends: that of a relayed method, or one of the following.
 * - `index`: The result depends on indexed blocks. Missing blocks are fetched.
 * - `composed`: The result is composed of results of relayed methods, which are cached, and of indexed blocks.
 * - `filters`: The result depends on the changes since the last poll of an HTTP filter.
 * - `traced`: The result depends on the traced block. It is cached permanently if that block is final and the index has
 *   equal traces.
 * - `table`: The result depends on the list of served methods.
 */
export type Scope = RelayScope | { readonly of: 'index' | 'composed' | 'filters' | 'traced' | 'table' };

/** Shape of a result. If a node returns a result with another shape, the result is invalid. */
export type ResultShape = 'quantity' | 'data' | 'text' | 'boolean' | 'object' | 'list' | 'any';

/** Result of a node after a check of its shape. It is an object, unless the method's row requires another shape. */
export type Members = Readonly<Record<string, unknown>>;

interface Row {
  readonly name: string;
  /** Summary of the method for the documentation, one sentence. */
  readonly summary: string;
  readonly params: readonly Param[];
  /** Description of the method's limits for the documentation. `checkLimits` and the handler enforce the limits. */
  readonly limits?: string | ((limits: CallLimits) => string);
  /** Throws RpcError if canonical parameters exceed a limit. Checks only limits that do not depend on the head. */
  readonly checkLimits?: (params: readonly unknown[], limits: CallLimits) => void;
  readonly scope: Scope;
}

/** Row of a method that is served from the trace index, or that is composed. */
export interface IndexedRow extends Row {
  readonly scope: { readonly of: 'index' | 'composed' };
  /** JSON Schema of the result, for the OpenRPC document. */
  readonly resultSchema?: JsonSchema;
  /**
   * Returns the handler for the index of one network. The handler receives canonical parameters. `call` calls a relayed
   * method.
   */
  readonly handler: (services: IndexServices, call: NodeCall) => Handler;
}

/** Row of a method that is relayed to nodes. The function `relayed` returns the method's handler. */
export interface RelayedRow extends Row {
  readonly scope: RelayScope;
  /** True if nodes accept the block parameter also as a hash (EIP-1898). */
  readonly byHash?: true;
  readonly result: ResultShape;
  /**
   * Checks that a result matches its request and is consistent. The check must take only microseconds. Throws
   * InvalidResponseError.
   */
  readonly check?: (params: readonly unknown[], value: Members, chainId: string | undefined) => void;
  /** Returns the blocks to which a result refers. If the result is a block, returns that block. Default: none. */
  readonly referencedBlocks?: (params: readonly unknown[], value: unknown) => Iterable<BlockReference>;
  /** True if the result describes the whole block that a parameter names. If that block exists, null is invalid. */
  readonly isBlockItself?: true;
  /**
   * Maximum bytes of a result that is always small. A larger one is a fault of the node. Default: 64 KiB for the shapes
   * quantity, boolean and text, otherwise no maximum. Infinity: no maximum.
   */
  readonly smallBytes?: number;
  /** True if `check` proves the result. The result of a single node can then be cached permanently. */
  readonly isProven?: true;
  /** True if correct nodes may return different results, because their gas limits or estimates differ. */
  readonly mayDiffer?: true;
  /**
   * Returns the hash or the sender of a transaction on which the result depends. The node that accepted the transaction
   * is asked first. Requests for a sender are never hedged, because the nodes' pending transactions differ.
   */
  readonly acceptedKey?: (params: readonly unknown[]) => string | undefined;
  /** True if the result may be null, which means that the requested object does not exist. */
  readonly nullable?: true;
  /**
   * True if the method sends a signed transaction. Such a request runs at most once. It is never hedged (sent to a
   * second node in parallel), and retried only if the first node cannot have received it.
   */
  readonly once?: true;
  /**
   * True if the operator added the method by its name. Its parameters are relayed unchanged, and its requests are never
   * cached, hedged or coalesced. A request is retried only if the first node cannot have received it.
   */
  readonly isExtra?: true;
}

/** Row of an HTTP filter method, such as eth_newFilter. HTTP filters are for clients that poll. */
export interface FilterRow extends Row {
  readonly scope: { readonly of: 'filters' };
  readonly resultSchema: JsonSchema;
  /** True if a call changes the filter. Its response must then not be rejected, because the filter has changed. */
  readonly isOnce?: true;
  readonly isFilter: true;
}

/** Row of a method that traces with a native tracer of nodes (`gateway.debugTracers`). `options` is its last parameter. */
export interface TracedRow extends Row {
  readonly scope: { readonly of: 'traced' | 'moment' };
  readonly traces: 'block' | 'transaction' | 'call';
  readonly resultSchema: JsonSchema;
}

/** Row of a method that lists the served methods. Every API key may call it. */
export interface DescribingRow extends Row {
  readonly scope: { readonly of: 'table' };
}

/** Row of the method table. The gateway, its documentation and its tests take all facts about a method from its row. */
export type MethodRow = IndexedRow | RelayedRow | TracedRow | FilterRow | DescribingRow;

export const limitsText = ({ limits }: MethodRow, values: CallLimits): string | undefined =>
  typeof limits === 'function' ? limits(values) : limits;
