import type { HeadChange } from '../../../ingest/index.ts';
import { RpcError, TimeSlice } from '../../../jsonrpc/index.ts';
import { FILTER_BYTES, logFilterBytes, traceFilterBytes } from '../../http/limits/filterBytes.ts';
import { liveLogFilter } from '../../methods/logFilter.ts';
import { rejectParam } from '../../methods/paramType.ts';
import type { Network } from '../../relay/network.ts';
import { type WantedTraces, wantedTracesObject } from '../../traceIndex/history/params.ts';
import { type ChainChange, HeadFeed, type LiveBlock } from './headFeed.ts';
import { liveBlocks } from './liveBlocks.ts';
import { type LiveLog, type LiveLogFilter, liveLogs, wantedLogs } from './liveLogs.ts';
import type { Sink } from './sink.ts';
import { Subscribers } from './subscribers.ts';
import { type Subscription, TraceFeed, type WantChanges } from './traceFeed.ts';

/** Delay in milliseconds before a block is requested again. Nodes may report a head before they can return it. */
const RETRY_MS = 250;
/** Milliseconds for which subscribers are notified before other work can run. */
const TURN_MS = 3;

const KINDS = ['newHeads', 'logs', 'traces'] as const;
type SubscriptionKind = (typeof KINDS)[number];
const KIND_LIST = KINDS.map((kind) => JSON.stringify(kind)).join(', ');
const PENDING = 'newPendingTransactions';

export interface WantedSubscription {
  readonly bytes: number;
  begin(sink: Sink): Subscription;
}

export class Live {
  readonly #feed: HeadFeed;
  readonly #logsOf: (block: LiveBlock) => Promise<readonly LiveLog[]>;
  readonly #heads = new Set<Sink>();
  readonly #logs = new Subscribers<LiveLog>();
  readonly #open = new Set<Sink>();
  readonly #traces: TraceFeed;
  readonly #turn = new TimeSlice(TURN_MS);

  /** `want` turns the delivery of index changes on or off. It is omitted if all changes are delivered anyway. */
  constructor(network: Network, want?: WantChanges) {
    const { pool } = network;
    this.#traces = new TraceFeed((work) => this.#inTurns(work), want);
    this.#logsOf = liveLogs(network);
    this.#feed = new HeadFeed(
      { retryMs: RETRY_MS },
      {
        head: () => pool.heads.latest,
        block: liveBlocks(network),
        changed: (change) => this.#notify(change),
        missed: () => {
          for (const sink of this.#open) sink.missed();
        },
      },
    );
  }

  /** Must be called each time that the nodes report another head. */
  headChanged(): void {
    this.#feed.headChanged();
  }

  /** Must be called for each change of the newest blocks in the trace index. */
  indexChanged(change: HeadChange): void {
    this.#traces.indexChanged(change);
  }

  stop(): void {
    this.#feed.stop();
  }

  /** Validates the parameters of `eth_subscribe`. Throws RpcError. */
  read([kind, options, ...more]: readonly unknown[]): WantedSubscription {
    const read = readKind(kind);
    const isBare = options === undefined || options === null;
    if (more.length > 0 || (read === 'newHeads' && !isBare))
      throw new RpcError(
        'invalidParams',
        `${read} allows ${read === 'newHeads' ? 'no' : 'one'} further parameter`,
      );
    const filter = isBare ? {} : options;
    if (read === 'newHeads')
      return { bytes: FILTER_BYTES, begin: (sink) => ({ end: this.subscribeHeads(sink) }) };
    if (read === 'traces') {
      const wanted = wantedTracesObject.read(filter, FILTER) as WantedTraces; // wantedTracesObject returns this type
      return { bytes: traceFilterBytes(wanted), begin: (sink) => this.#traces.add(wanted, sink) };
    }
    const wanted = liveLogFilter.read(filter, FILTER) as LiveLogFilter; // liveLogFilter returns this type
    return {
      bytes: logFilterBytes(wanted),
      begin: (sink) => ({ end: this.subscribeLogs(wanted, sink) }),
    };
  }

  subscribeHeads(sink: Sink): () => void {
    this.#heads.add(sink);
    return this.#begin(sink, () => this.#heads.delete(sink));
  }

  subscribeLogs(filter: LiveLogFilter, sink: Sink): () => void {
    return this.#begin(sink, this.#logs.add(wantedLogs(filter), sink));
  }

  #begin(sink: Sink, end: () => void): () => void {
    this.#open.add(sink);
    this.#feed.start();
    return () => {
      end();
      this.#open.delete(sink);
      if (this.#open.size === 0) this.#feed.stop();
    };
  }

  /** Notifies subscribers. If logs are unavailable, rejects before any notification, so that a retry is safe. */
  async #notify({ undone, added }: ChainChange): Promise<void> {
    const heads = [...this.#heads];
    const wantsLogs = this.#logs.size > 0;
    const moment = this.#logs.moment();
    const logs: (readonly LiveLog[])[] = [];
    if (wantsLogs) for (const block of added) logs.push(await this.#logsOf(block));
    const lowest = undone.at(-1);
    if (lowest !== undefined) await this.#inTurns(this.#logs.sendRemoved(lowest.number));
    for (const [i, { number, header }] of added.entries()) {
      await this.#inTurns(this.#pushHeader(heads, header));
      await this.#inTurns(this.#logs.send({ blockNumber: number, moment }, logs[i] ?? []));
    }
  }

  *#pushHeader(sinks: readonly Sink[], header: string): Generator<void> {
    for (const sink of sinks) {
      // `sinks` is a copy of the list of subscribers, so this subscription may already have ended.
      if (this.#heads.has(sink)) sink.push(header);
      yield;
    }
  }

  async #inTurns(work: Generator<void>): Promise<void> {
    for (const _ of work) while (this.#turn.isExpired) await this.#turn.next();
  }
}

const FILTER = 'params[1] (filter)';

function readKind(kind: unknown): SubscriptionKind {
  if (kind === PENDING)
    throw new RpcError(
      'invalidParams',
      `${PENDING} is not supported: the gateway does not see pending transactions; use one of ${KIND_LIST}`,
    );
  return (
    KINDS.find((known) => known === kind) ??
    rejectParam('params[0] (subscription)', `one of ${KIND_LIST}`, kind)
  );
}
