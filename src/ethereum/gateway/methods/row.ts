import type { Kind } from './kind.ts';

/** A positional parameter. */
export interface Param {
  readonly name: string;
  readonly kind: Kind;
  /** May be left out or null; then `otherwise` takes its place, where there is one. */
  readonly optional?: true;
  readonly otherwise?: unknown;
}

/**
 * What an answer depends on, from which follows how long it may be kept and which node may give it.
 * - `constant`: nothing that changes.
 * - `moment`: the node and the moment; never kept.
 * - `head`: the latest block.
 * - `block`: the block that parameter `param` names; kept for good once that is final.
 * - `found`: the block in which it was found, told by member `member` of the answer.
 * - `logs`: the range of the log filter.
 */
export type Scope =
  | { readonly of: 'constant' | 'moment' | 'head' | 'logs' }
  | { readonly of: 'block'; readonly param: number }
  | { readonly of: 'found'; readonly member: 'number' | 'blockNumber' };

/** What a result looks like; a node that answers otherwise answers nonsense. */
export type ResultShape = 'quantity' | 'data' | 'text' | 'boolean' | 'object' | 'list' | 'any';

/** One row of the table of methods: all that the gateway, its documentation and its tests know of a method. */
export interface MethodRow {
  readonly name: string;
  /** One sentence for the documentation. */
  readonly summary: string;
  readonly params: readonly Param[];
  /** Limits, in words for the documentation; `checkLimits` enforces those that need no head. */
  readonly limits?: string;
  /** Throws RpcError where canonical parameters go over a limit. */
  readonly checkLimits?: (params: readonly unknown[]) => void;
  readonly scope: Scope;
  /** Nodes take the block of the scope by its hash, too (EIP-1898). */
  readonly byHash?: true;
  readonly result: ResultShape;
  /**
   * Of what is small by nature: bytes that no true answer goes over, whatever is asked for; a larger one is its node's fault.
   * Without it an answer is as large as the request makes it.
   */
  readonly smallBytes?: number;
  /** May be null: what was asked for does not exist. */
  readonly nullable?: true;
  /** Carried out at most once: never hedged, and sent to another node only where the first cannot have got it. */
  readonly once?: true;
}
