// Generated from the method table by `npm run docs`. Edit src/ethereum/gateway/methods instead of this file.

/** Bytes, an address, a hash or a number as `0x` and hex digits. */
export type Hex = `0x${string}`;

/** A number in a request. */
export type Quantity = Hex | number | bigint;

/** The parameter of `trace_filter`. Traces of a range of blocks, by sender and recipient. */
export interface TraceFilterParams {
  /** The first block, by number or tag; default: latest. */
  readonly fromBlock?: 'latest' | 'safe' | 'finalized' | 'earliest' | Quantity | undefined;
  /** The last block, by number or tag; default: latest. */
  readonly toBlock?: 'latest' | 'safe' | 'finalized' | 'earliest' | Quantity | undefined;
  /** The only block, by its hash, instead of fromBlock and toBlock. */
  readonly blockHash?: Hex | undefined;
  /** Senders: an address, or a list of at most 1000 addresses; any of them matches; default, and for an empty list: all. */
  readonly fromAddress?: Hex | readonly Hex[] | undefined;
  /** Recipients: an address, or a list of at most 1000 addresses; any of them matches; default, and for an empty list: all. */
  readonly toAddress?: Hex | readonly Hex[] | undefined;
  /** Whether both sides must match (intersection), or either (union). */
  readonly mode?: 'intersection' | 'union' | undefined;
  /** Matching traces to skip; default: 0. */
  readonly after?: Quantity | undefined;
  /** Maximum number of traces to return; default: all, an error if more match than the limit allows. */
  readonly count?: Quantity | undefined;
}

/** The parameter of `floodgate_addressTraces`. The traces of addresses over any range of blocks, in pages. */
export interface AddressTracesParams {
  /** An address, or a list of 1 to 20 addresses; any of them matches. */
  readonly address: Hex | readonly Hex[];
  /** The side on which the address appears; default: either. */
  readonly direction?: 'from' | 'to' | 'either' | undefined;
  /** The first block, by number or tag; default: the lowest of the index. */
  readonly fromBlock?: 'latest' | 'safe' | 'finalized' | 'earliest' | Quantity | undefined;
  /** The last block, by number or tag; default: latest. */
  readonly toBlock?: 'latest' | 'safe' | 'finalized' | 'earliest' | Quantity | undefined;
  /** Newest first (desc), or oldest first (asc); default: desc. */
  readonly order?: 'desc' | 'asc' | undefined;
  /** The types of traces, of call, create, suicide, reward; default: all. */
  readonly types?: readonly ('call' | 'create' | 'suicide' | 'reward')[] | undefined;
  /** The types of calls, of call, staticcall, delegatecall, callcode; default: all. */
  readonly callTypes?: readonly ('call' | 'staticcall' | 'delegatecall' | 'callcode')[] | undefined;
  /** The minimum value of a trace, in wei; default: 0. */
  readonly minValue?: Quantity | undefined;
  /** True: only frames below the root of a transaction; false: only roots; default: both. */
  readonly internal?: boolean | undefined;
  /** True: only failed frames and frames inside them; false: only the others; default: both. */
  readonly failed?: boolean | undefined;
  /** Traces per page, 1 to 200; default: 100. */
  readonly limit?: Quantity | undefined;
  /** The cursor of the previous page; all other members except limit must be unchanged. */
  readonly cursor?: string | undefined;
}

/** The result of `floodgate_addressTraces`. */
export interface AddressTracesPage {
  readonly traces: readonly Trace[];
  readonly cursor: string | null;
  readonly range: {
    readonly fromBlock: number;
    readonly toBlock: number;
  };
  readonly missing: readonly (readonly [number, number])[];
}

/** The parameter of `floodgate_addressSummary`. Totals of an address: trace counts, first and last block, value. */
export interface AddressSummaryParams {
  /** An address: 0x and 40 hex digits. */
  readonly address: Hex;
  /** The first block, by number or tag; default: the lowest of the index. */
  readonly fromBlock?: 'latest' | 'safe' | 'finalized' | 'earliest' | Quantity | undefined;
  /** The last block, by number or tag; default: latest. */
  readonly toBlock?: 'latest' | 'safe' | 'finalized' | 'earliest' | Quantity | undefined;
}

/** The result of `floodgate_addressSummary`. */
export interface AddressSummary {
  readonly range: {
    readonly fromBlock: number;
    readonly toBlock: number;
  };
  readonly firstBlock: number | null;
  readonly lastBlock: number | null;
  readonly counts: {
    readonly from: {
      readonly call: number;
      readonly create: number;
      readonly suicide: number;
      readonly reward: number;
    };
    readonly to: {
      readonly call: number;
      readonly create: number;
      readonly suicide: number;
      readonly reward: number;
    };
    readonly partial: boolean;
    readonly range: {
      readonly fromBlock: number;
      readonly toBlock: number;
    } | null;
  };
  readonly value: {
    readonly in: Hex;
    readonly out: Hex;
    readonly partial: boolean;
    readonly range: {
      readonly fromBlock: number;
      readonly toBlock: number;
    } | null;
  };
  readonly missing: readonly (readonly [number, number])[];
}

/** A trace of type `call`. */
export interface CallTrace {
  readonly action: {
    readonly callType: 'call' | 'callcode' | 'delegatecall' | 'staticcall';
    readonly from: Hex;
    readonly gas: Hex;
    readonly input: Hex;
    readonly to: Hex;
    readonly value: Hex;
  };
  readonly blockHash: Hex;
  readonly blockNumber: number;
  readonly error?: string | undefined;
  readonly result: {
    readonly gasUsed: Hex;
    readonly output: Hex;
  } | null;
  readonly subtraces: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: Hex;
  readonly transactionPosition: number;
  readonly type: 'call';
}

/** A trace of type `create`. */
export interface CreateTrace {
  readonly action: {
    readonly creationMethod?: 'create' | 'create2' | undefined;
    readonly from: Hex;
    readonly gas: Hex;
    readonly init: Hex;
    readonly value: Hex;
  };
  readonly blockHash: Hex;
  readonly blockNumber: number;
  readonly error?: string | undefined;
  readonly result:
    | {
        readonly address: Hex;
        readonly code: Hex;
        readonly gasUsed: Hex;
      }
    | {
        readonly gasUsed: Hex;
        readonly output: Hex;
      }
    | null;
  readonly subtraces: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: Hex;
  readonly transactionPosition: number;
  readonly type: 'create';
}

/** A trace of type `suicide`. */
export interface SuicideTrace {
  readonly action: {
    readonly address: Hex;
    readonly balance: Hex;
    readonly refundAddress: Hex;
  };
  readonly blockHash: Hex;
  readonly blockNumber: number;
  readonly error?: string | undefined;
  readonly result: null;
  readonly subtraces: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: Hex;
  readonly transactionPosition: number;
  readonly type: 'suicide';
}

/** A trace of type `reward`. */
export interface RewardTrace {
  readonly action: {
    readonly author: Hex;
    readonly rewardType: 'block' | 'uncle' | 'external';
    readonly value: Hex;
  };
  readonly blockHash: Hex;
  readonly blockNumber: number;
  readonly result: null;
  readonly subtraces: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: null;
  readonly transactionPosition: null;
  readonly type: 'reward';
}

/** A trace. */
export type Trace = CallTrace | CreateTrace | SuicideTrace | RewardTrace;
