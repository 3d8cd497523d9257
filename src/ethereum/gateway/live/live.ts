import type { FollowedChange } from '../../ingest/index.ts';
import { RpcError, SharedTurn } from '../../jsonrpc/index.ts';
import type { BlockRef } from '../../nodes/index.ts';
import { type WantedTraces, wantedTracesObject } from '../history/params.ts';
import { refuse } from '../methods/kind.ts';
import { liveLogFilter } from '../methods/logFilter.ts';
import type { Network } from '../relay/network.ts';
import { type ChainChange, HeadFeed, type LiveBlock } from './headFeed.ts';
import { liveBlocks } from './liveBlocks.ts';
import { type LiveLog, type LiveLogFilter, liveLogs, wantedLogs } from './liveLogs.ts';
import type { Sink } from './sink.ts';
import { Subscribers } from './subscribers.ts';
import { type Subscription, TraceFeed, type WantChanges } from './traceFeed.ts';

/** A node that has told of a head may not have its block yet: it is asked again so much later. */
const RETRY_MS = 250;
/** Subscribers are told one after the other: after so long others have their turn. */
const TURN_MS = 3;

const KINDS = ['newHeads', 'logs', 'traces'] as const;
type SubscriptionKind = (typeof KINDS)[number];
const KIND_LIST = KINDS.map((kind) => JSON.stringify(kind)).join(', ');
const PENDING = 'newPendingTransactions';

/** What is new of one network, for whoever wants it pushed: each block is fetched once for all of them. */
export class Live {
  readonly #feed: HeadFeed;
  readonly #logsOf: (block: LiveBlock) => Promise<readonly LiveLog[]>;
  readonly #heads = new Set<Sink>();
  readonly #logs = new Subscribers<LiveLog>();
  /** All subscriptions to heads and logs. */
  readonly #open = new Set<Sink>();
  readonly #traces: TraceFeed;
  readonly #turn = new SharedTurn(TURN_MS);

  /** `want` is left out where `followed` hears of all changes anyway. */
  constructor(network: Network, want?: WantChanges) {
    const { pool } = network;
    this.#traces = new TraceFeed((work) => this.#inTurns(work), want);
    this.#logsOf = liveLogs(network);
    this.#feed = new HeadFeed(
      { retryMs: RETRY_MS },
      {
        head: () => pool.heads.latest,
        block: liveBlocks(network),
        changed: (change) => this.#tell(change),
        missed: () => {
          for (const sink of this.#open) sink.missed();
        },
      },
    );
  }

  /** The head of the nodes is another. */
  headChanged(): void {
    this.#feed.headChanged();
  }

  /** The index of traces was changed at its head. */
  followed(change: FollowedChange): void {
    this.#traces.followed(change);
  }

  stop(): void {
    this.#feed.stop();
  }

  /** Begins a subscription of `eth_subscribe`. Throws RpcError where it cannot be. */
  subscribe([kind, options, ...more]: readonly unknown[], sink: Sink): Subscription {
    const read = readKind(kind);
    const isBare = options === undefined || options === null;
    if (more.length > 0 || (read === 'newHeads' && !isBare))
      throw new RpcError(
        'invalidParams',
        `${read} takes ${read === 'newHeads' ? 'no' : 'one'} further parameter`,
      );
    const filter = isBare ? {} : options;
    if (read === 'traces')
      return this.#traces.add(wantedTracesObject.read(filter, FILTER) as WantedTraces, sink); // what it makes
    if (read === 'newHeads') return { end: this.subscribeHeads(sink) };
    return { end: this.subscribeLogs(liveLogFilter.read(filter, FILTER) as LiveLogFilter, sink) }; // what it makes
  }

  /** The headers of new blocks. What it returns ends it. */
  subscribeHeads(sink: Sink): () => void {
    this.#heads.add(sink);
    return this.#begin(sink, () => this.#heads.delete(sink));
  }

  /** The logs of new blocks. What it returns ends it. */
  subscribeLogs(filter: LiveLogFilter, sink: Sink): () => void {
    return this.#begin(sink, this.#logs.add(wantedLogs(filter), sink));
  }

  /** The block up to which heads and logs are told; undefined where nobody wants any. */
  get tip(): BlockRef | undefined {
    return this.#feed.tip;
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

  /** Rejects, with nothing told, where the logs of a block cannot be had now. */
  async #tell({ undone, added }: ChainChange): Promise<void> {
    const heads = [...this.#heads];
    const wantsLogs = this.#logs.size > 0;
    const moment = this.#logs.moment();
    const logs: (readonly LiveLog[])[] = [];
    if (wantsLogs) for (const block of added) logs.push(await this.#logsOf(block));
    const lowest = undone.at(-1);
    if (lowest !== undefined) await this.#inTurns(this.#logs.takeBack(lowest.number));
    for (const [i, { number, header }] of added.entries()) {
      await this.#inTurns(this.#pushHeader(heads, header));
      await this.#inTurns(this.#logs.tell({ blockNumber: number, moment }, logs[i] ?? []));
    }
  }

  *#pushHeader(sinks: readonly Sink[], header: string): Generator<void> {
    for (const sink of sinks) {
      // It may have ended meanwhile.
      if (this.#heads.has(sink)) sink.push(header);
      yield;
    }
  }

  async #inTurns(work: Generator<void>): Promise<void> {
    for (const _ of work) while (this.#turn.isOver) await this.#turn.next();
  }
}

const FILTER = 'params[1] (filter)';

/** Throws RpcError for what there is no subscription to. */
function readKind(kind: unknown): SubscriptionKind {
  if (kind === PENDING)
    throw new RpcError(
      'invalidParams',
      `there are no subscriptions to ${PENDING}: transactions are not seen here before they are in a block; there are ${KIND_LIST}`,
    );
  return (
    KINDS.find((known) => known === kind) ?? refuse('params[0] (subscription)', `one of ${KIND_LIST}`, kind)
  );
}
