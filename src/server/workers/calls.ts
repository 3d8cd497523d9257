import type { Config } from '../../config/index.ts';
import type { StoreState } from '../../ethereum/gateway/index.ts';
import type { FollowedChange } from '../../ethereum/ingest/index.ts';
import type { PoolState, SetAside, Urgency } from '../../ethereum/nodes/index.ts';
import type { RecentPart } from '../../ethereum/traces/index.ts';
import type { TakenRequests } from '../../rules/api/index.ts';
import type { MetricJson } from './machineMetrics.ts';
import type { KeyChanges } from './toldKeys.ts';

/** What the primary knows of a network and workers answer by. */
export interface NetworkState {
  readonly pool: PoolState;
  /** The store of final answers. */
  readonly store: StoreState;
  /** The highest block of an embedded index that is shown; -1 where there is none. */
  readonly indexHead: number;
  /** Where the newest blocks of an index that instances share are to be read; undefined where they are read there. */
  readonly recentPart: RecentPart | undefined;
}

/** Of each network, by its name. */
export type State = ReadonlyMap<string, NetworkState>;

/** What a worker begins with. */
export interface Beginning {
  readonly config: Config;
  readonly state: State;
  /** All API keys of the database; none where they are in the data folder. */
  readonly keys: KeyChanges | undefined;
}

/** Calls of one key or address that a worker may let through. */
export interface Lease {
  /** None where there is to be waited. */
  readonly calls: number;
  readonly waitSeconds: number;
}

/** What a worker has taken of a node's budget beyond what it had leased, and what it wants to lease. */
export interface WantedNodeLease {
  readonly urgency: Urgency;
  /** None where it only tells what it took. */
  readonly calls: number;
  readonly tookCalls: number;
  readonly tookBytes: number;
}

/** Calls that a worker may send to a node. */
export interface NodeLease {
  readonly calls: number;
  /** After how long there may be one more, by its urgency. */
  readonly waitsMs: Readonly<Record<Urgency, number>>;
}

interface OfNode {
  readonly network: string;
  /** Its place in the configuration. */
  readonly node: number;
}

export interface FilterCall {
  readonly network: string;
  readonly client: string;
}

/** What the primary tells and asks its workers. */
export type WorkerCalls = {
  begin(beginning: Beginning): void;
  /** Resolves when no call is answered any more. */
  hold(nothing: undefined): void;
  /** Calls are answered again, by this state. */
  resume(state: State): void;
  /** What has become of API keys counts from here on. */
  keys(changes: KeyChanges): void;
  followed(change: { readonly network: string; readonly change: FollowedChange }): void;
  metrics(nothing: undefined): Promise<readonly MetricJson[]>;
  /** How much of the time since it was asked last it had something to do, 0 to 1. */
  busy(nothing: undefined): number;
  /** Which share of the connections that ask from now on it closes, each behind its next answer. */
  shed(share: number): void;
  /** Requests with tokens of the rules API that it has not told of. */
  takeUses(nothing: undefined): ReadonlyMap<string, TakenRequests>;
  /** Ends it: gently, each connection behind its next answer, or as a server is stopped. */
  leave(how: { readonly isGentle: boolean; readonly timeoutMs: number }): Promise<readonly MetricJson[]>;
};

/** What workers tell and ask the primary. */
export type PrimaryCalls = {
  /** It has loaded, and wants to begin. */
  up(nothing: undefined): void;
  listening(where: { readonly url: string }): void;
  failed(error: { readonly name: string; readonly message: string }): void;
  /** Has a node polled now. Resolves when what that found is known everywhere. */
  poll(node: OfNode): Promise<void>;
  /** Calls have found that a node is unwell, or, without a reason, that its chain is to be compared anew. */
  found(node: OfNode & { readonly why: SetAside | undefined }): void;
  /** Has blocks indexed. Resolves with the first that cannot be had; undefined where all are there. */
  ensure(range: {
    readonly network: string;
    readonly fromBlock: number;
    readonly toBlock: number;
  }): Promise<{ readonly missing: number } | undefined>;
  /** Tokens of the rules API were sent, by their ids. */
  usedTokens(taken: ReadonlyMap<string, TakenRequests>): void;
  take(wanted: { readonly caller: string; readonly ratePerSecond: number; readonly calls: number }): Lease;
  takeOfNode(wanted: OfNode & WantedNodeLease): NodeLease;
  /** Has the worker told of changes of an index, or no longer: they are large, and few want them. */
  wantChanges(wanted: { readonly network: string; readonly areWanted: boolean }): void;
  makeFilter(call: FilterCall & { readonly logs: unknown }): Promise<string>;
  filterChanges(call: FilterCall & { readonly id: string }): Promise<readonly string[]>;
  filterLogs(call: FilterCall & { readonly id: string }): Promise<Uint8Array>;
  uninstallFilter(call: FilterCall & { readonly id: string }): Promise<boolean>;
};
