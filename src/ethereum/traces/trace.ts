/**
 * Data model of traces: the form in which Floodgate stores and serves them, whatever form the node sends.
 *
 * Members and their order follow the trace draft (ethereum/execution-apis #890; docs/reference/trace-filter.md): keys
 * are in alphabetical order, only a failed frame has `error`, and a trace without a result has `result: null`.
 */

/** 20 bytes as `0x` and 40 lower-case hex digits. */
export type Address = string & { readonly __brand: 'Address' };

/** 32 bytes as `0x` and 64 lower-case hex digits. */
export type Hash = string & { readonly __brand: 'Hash' };

/** A number of at most 256 bits as `0x` and hex digits without leading zeros. Zero is `0x0`. */
export type Quantity = string & { readonly __brand: 'Quantity' };

/** Bytes as `0x` and an even number of lower-case hex digits. */
export type Data = string & { readonly __brand: 'Data' };

export type CallType = 'call' | 'callcode' | 'delegatecall' | 'staticcall';
export type CreationMethod = 'create' | 'create2';
/** Kind of a reward: of the block's miner, of an uncle's miner, or from a contract (Gnosis). */
export type RewardType = 'block' | 'uncle' | 'external';

/** Position of a trace: its block, its transaction (null for a reward) and its path in the call tree. */
export interface Placement {
  readonly blockHash: Hash;
  readonly blockNumber: number;
  readonly transactionHash: Hash | null;
  readonly transactionPosition: number | null;
  /** Number of direct child frames. */
  readonly subtraces: number;
  /** Path from the transaction's root frame: one child index per level. The path of the root frame is empty. */
  readonly traceAddress: readonly number[];
}

export interface CallAction {
  readonly callType: CallType;
  readonly from: Address;
  readonly gas: Quantity;
  readonly input: Data;
  readonly to: Address;
  readonly value: Quantity;
}

export interface CallResult {
  readonly gasUsed: Quantity;
  readonly output: Data;
}

export interface CreateAction {
  /** Absent if the node does not report it (Parity before 2020). */
  readonly creationMethod?: CreationMethod;
  readonly from: Address;
  readonly gas: Quantity;
  readonly init: Data;
  readonly value: Quantity;
}

/** Result of a creation that succeeded. */
export interface CreateResult {
  readonly address: Address;
  readonly code: Data;
  readonly gasUsed: Quantity;
}

export interface SuicideAction {
  readonly address: Address;
  readonly balance: Quantity;
  readonly refundAddress: Address;
}

export interface RewardAction {
  readonly author: Address;
  readonly rewardType: RewardType;
  readonly value: Quantity;
}

export interface CallTrace extends Placement {
  readonly type: 'call';
  readonly action: CallAction;
  readonly result: CallResult | null;
  /** Parity's error name, for example `Reverted`. Every failed frame has it. */
  readonly error?: string;
}

export interface CreateTrace extends Placement {
  readonly type: 'create';
  readonly action: CreateAction;
  /** A reverted creation has the result of a reverted call, without a contract (trace draft). */
  readonly result: CreateResult | CallResult | null;
  readonly error?: string;
}

export interface SuicideTrace extends Placement {
  readonly type: 'suicide';
  readonly action: SuicideAction;
  readonly result: null;
  readonly error?: string;
}

export interface RewardTrace extends Placement {
  readonly type: 'reward';
  readonly action: RewardAction;
  readonly result: null;
  readonly transactionHash: null;
  readonly transactionPosition: null;
}

export type Trace = CallTrace | CreateTrace | SuicideTrace | RewardTrace;

/** Members of a block header that are stored, or against which traces are checked. */
export interface BlockHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** Hashes of the block's transactions, in order. */
  readonly transactionHashes: readonly Hash[];
}
