import type { PolledFilters } from '../filters/polledFilters.ts';
import type { Handler } from '../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import type { BlockTold } from './blocksIn.ts';
import type { JsonSchema, Kind } from './kind.ts';

/** A positional parameter. */
export interface Param {
  readonly name: string;
  readonly kind: Kind;
  /** May be left out; then `otherwise` takes its place, where there is one. */
  readonly optional?: true;
  readonly otherwise?: unknown;
  /** Of an optional one: null does not stand for leaving it out. */
  readonly refusesNull?: true;
  /** The hash of a block: what is asked about it has one answer, wherever the chain is. */
  readonly isBlockHash?: true;
}

/**
 * What the answer of a node depends on, from which follows how long it may be cached and which node may give it.
 * - `constant`: nothing that changes.
 * - `moment`: the node and the moment; never cached.
 * - `head`: the latest block.
 * - `block`: the block that parameter `param` names; cached for good once that is final.
 * - `found`: the block in which it was found, told by member `member` of the answer.
 * - `logs`: the range of the log filter.
 */
export type RelayScope =
  | { readonly of: 'constant' | 'moment' | 'head' | 'logs' }
  | { readonly of: 'block'; readonly param: number }
  | { readonly of: 'found'; readonly member: 'number' | 'blockNumber' };

/**
 * `index`: the blocks of the index, which are fetched where they are missing. `filters`: what came since it was asked last. `table`: nothing but
 * the methods that are served.
 */
export type Scope = RelayScope | { readonly of: 'index' | 'filters' | 'table' };

/** What a result looks like; a node that answers otherwise answers nonsense. */
export type ResultShape = 'quantity' | 'data' | 'text' | 'boolean' | 'object' | 'list' | 'any';

/** An answer's value after its shape was checked: an object, except where the row says that it is a list or a text. */
export type Members = Readonly<Record<string, unknown>>;

interface Row {
  readonly name: string;
  /** One sentence for the documentation. */
  readonly summary: string;
  readonly params: readonly Param[];
  /** Limits, in words for the documentation; `checkLimits`, and the handler, enforce them. */
  readonly limits?: string;
  /** Throws RpcError where canonical parameters go over a limit that needs no head. */
  readonly checkLimits?: (params: readonly unknown[]) => void;
  readonly scope: Scope;
}

/** A method that is answered from the index of traces. */
export interface IndexedRow extends Row {
  readonly scope: { readonly of: 'index' };
  /** What it answers, for the OpenRPC document. */
  readonly resultSchema?: JsonSchema;
  /** Answers calls, whose parameters are canonical, from the index of one network. */
  readonly handler: (services: IndexServices) => Handler;
}

/** A method that nodes answer; `relayed` is the handler of all of them. */
export interface RelayedRow extends Row {
  readonly scope: RelayScope;
  /** Nodes take the block of the scope by its hash, too (EIP-1898). */
  readonly byHash?: true;
  readonly result: ResultShape;
  /**
   * A check of what an answer says, beyond its shape, that costs microseconds: that it is about what was asked, and agrees
   * with itself. Throws InvalidResponseError.
   */
  readonly check?: (params: readonly unknown[], value: Members, chainId: string | undefined) => void;
  /** The blocks that an answer says it is, or stands in. Left out: it tells none. */
  readonly blocksIn?: (params: readonly unknown[], value: unknown) => Iterable<BlockTold>;
  /** It is about the block of its scope itself: of a block that the chain has, null is no answer. */
  readonly isBlockItself?: true;
  /**
   * Of what is small by nature: bytes that no true answer goes over, whatever is asked for; a larger one is its node's fault.
   * Without it an answer is as large as the request makes it.
   */
  readonly smallBytes?: number;
  /** Its check proves an answer: one node's word is enough to keep it for good. */
  readonly isProven?: true;
  /** Honest nodes may answer it differently: their limits of gas differ, and how they estimate. */
  readonly mayDiffer?: true;
  /** May be null: what was asked for does not exist. */
  readonly nullable?: true;
  /**
   * Sends the signed transaction that is its first parameter. Carried out at most once: never hedged, and sent to another
   * node only where the first cannot have got it.
   */
  readonly once?: true;
  /**
   * A method that the operator has named: nothing is known of it, so parameters pass as they came, and it is carried out once
   * for each that asks. Never cached, never hedged, and sent to another node only where the first cannot have got it.
   */
  readonly isExtra?: true;
}

/** A method about what is new, for clients that ask again and again. */
export interface FilterRow extends Row {
  readonly scope: { readonly of: 'filters' };
  readonly resultSchema: JsonSchema;
  /** What it answers was begun, told or ended by it: the answer is not to be refused. */
  readonly isOnce?: true;
  readonly filterHandler: (filters: PolledFilters) => Handler;
}

/** The method that tells which methods there are. Every key may call it. */
export interface DescribingRow extends Row {
  readonly scope: { readonly of: 'table' };
}

/** One row of the table of methods: all that the gateway, its documentation and its tests know of a method. */
export type MethodRow = IndexedRow | RelayedRow | FilterRow | DescribingRow;
