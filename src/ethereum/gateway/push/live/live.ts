import { inBackground } from '../../../../platform/background/index.ts';
import type { HeadChange } from '../../../ingest/index.ts';
import { RpcError, TimeSlice } from '../../../jsonrpc/index.ts';
import { FILTER_BYTES, logFilterBytes, traceFilterBytes } from '../../http/limits/filterBytes.ts';
import { liveLogFilter } from '../../methods/logFilter.ts';
import { rejectParam } from '../../methods/paramType.ts';
import type { Network } from '../../relay/network.ts';
import { type WantedTraces, wantedTracesObject } from '../../traceIndex/history/params.ts';
import { ClientTurns } from './clientTurns.ts';
import { type ChainChange, HeadFeed, type LiveBlock } from './headFeed.ts';
import { liveBlocks } from './liveBlocks.ts';
import { type LiveLog, type LiveLogFilter, liveLogs, wantedLogs } from './liveLogs.ts';
import type { Sink } from './sink.ts';
import { Subscribers } from './subscribers.ts';
import { type Subscription, TraceFeed, type WantChanges } from './traceFeed.ts';

/** Delay in milliseconds before a block is requested again. Nodes may report a head before they can return it. */
const RETRY_MS = 250;
/** Milliseconds for which subscribers are found or notified before other work can run. */
const TURN_MS = 1;

const KINDS = ['newHeads', 'logs', 'traces'] as const;
type SubscriptionKind = (typeof KINDS)[number];
const KIND_LIST = KINDS.map((kind) => JSON.stringify(kind)).join(', ');
const PENDING = 'newPendingTransactions';

export interface WantedSubscription {
  readonly bytes: number;
  begin(sink: Sink): Subscription;
}

/** Text of a notification about a new block. */
export type HeadText = (block: LiveBlock) => string;

/** Subscriptions of one network. Logs of a block are sent when all clients have its header. */
export class Live {
  readonly #headFeed: HeadFeed;
  /** Follows the blocks whose headers were sent. Its retries do not delay headers. */
  readonly #logFeed: HeadFeed;
  readonly #logsOf: (block: LiveBlock) => Promise<readonly LiveLog[]>;
  readonly #heads = new Map<Sink, HeadText>();
  readonly #logs = new Subscribers<LiveLog>();
  /** Sequence numbers of announced blocks. They determine which subscribers receive the logs. */
  readonly #moments = new WeakMap<LiveBlock, number>();
  readonly #traces: TraceFeed;
  readonly #turn = new TimeSlice(TURN_MS);
  /** Each kind of work has time slices of its own, so that none delays another. */
  readonly #logDeliveryTurn = new TimeSlice(TURN_MS);
  readonly #traceTurn = new TimeSlice(TURN_MS);
  readonly #traceDeliveryTurn = new TimeSlice(TURN_MS);
  #isSendingHeads = false;

  /** `want` turns the delivery of index changes on or off. It is omitted if all changes are delivered anyway. */
  constructor(network: Network, want?: WantChanges) {
    const { pool } = network;
    const block = liveBlocks(network);
    this.#traces = new TraceFeed(
      {
        find: (work) => this.#afterHeads(work, this.#traceTurn),
        deliver: (work) => this.#afterHeads(work, this.#traceDeliveryTurn),
      },
      want,
    );
    this.#logsOf = liveLogs(network);
    this.#headFeed = new HeadFeed(
      { retryMs: RETRY_MS },
      {
        head: () => pool.heads.latest,
        ancestors: () => pool.heads.ancestors,
        block,
        changed: ({ added }) => this.#sendHeads(added),
        announced: () => this.#logFeed.headChanged(),
        missed: () => {
          for (const sink of this.#heads.keys()) sink.missed();
        },
      },
    );
    this.#logFeed = new HeadFeed(
      { retryMs: RETRY_MS },
      {
        head: () => this.#headFeed.head,
        ancestors: () => this.#headFeed.ancestors,
        block: async (hash) => this.#headFeed.announcedBlock(hash) ?? block(hash),
        changed: (change) => this.#sendLogs(change),
        missed: () => this.#logs.missed(Number.POSITIVE_INFINITY),
      },
    );
  }

  /** Must be called each time that the nodes report another head. */
  headChanged(): void {
    this.#headFeed.headChanged();
  }

  /** Must be called for each change of the newest blocks in the trace index. */
  indexChanged(change: HeadChange): void {
    this.#traces.indexChanged(change);
  }

  stop(): void {
    this.#headFeed.stop();
    this.#logFeed.stop();
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

  /** Sends `textOf` of each new block. Default: its header. */
  subscribeHeads(sink: Sink, textOf: HeadText = ({ header }) => header): () => void {
    this.#heads.set(sink, textOf);
    this.#headFeed.start();
    return () => {
      this.#heads.delete(sink);
      this.#stopIdle();
    };
  }

  subscribeLogs(filter: LiveLogFilter, sink: Sink): () => void {
    const remove = this.#logs.add(wantedLogs(filter), sink);
    this.#headFeed.start();
    this.#logFeed.start();
    return () => {
      remove();
      this.#stopIdle();
    };
  }

  #stopIdle(): void {
    if (this.#logs.size > 0) return;
    this.#logFeed.stop();
    if (this.#heads.size === 0) this.#headFeed.stop();
  }

  async #sendHeads(added: readonly LiveBlock[]): Promise<void> {
    const moment = this.#logs.moment();
    for (const block of added) this.#moments.set(block, moment);
    const heads = [...this.#heads];
    this.#isSendingHeads = true;
    try {
      for (const block of added) await this.#inSlices(this.#sendHead(heads, block));
    } finally {
      this.#isSendingHeads = false;
    }
  }

  *#sendHead(heads: readonly (readonly [Sink, HeadText])[], block: LiveBlock): Generator<void> {
    const isSubscribed = (sink: Sink): boolean => this.#heads.has(sink);
    const turns = new ClientTurns<string, readonly [Sink, HeadText]>(function* ([sink, textOf]) {
      // The subscription may have ended since the header was queued.
      if (isSubscribed(sink)) sink.push(textOf(block));
      yield;
    });
    for (const head of heads) {
      turns.add(head[0].client, head);
      yield;
    }
    while (turns.step()) yield;
  }

  /** Queues logs. If they are unavailable, rejects before any notification, so that a retry is safe. */
  async #sendLogs({ undone, added }: ChainChange): Promise<void> {
    const logs: (readonly LiveLog[])[] = [];
    for (const block of added) logs.push(await this.#logsOf(block));
    const lowest = undone.at(-1);
    if (lowest !== undefined) await this.#queueLogs(this.#logs.sendRemoved(lowest.number));
    for (const [i, block] of added.entries()) {
      const moment = this.#moments.get(block) ?? this.#logs.moment();
      await this.#queueLogs(this.#logs.send({ blockNumber: block.number, moment }, logs[i] ?? []));
    }
  }

  async #queueLogs(work: Generator<void>): Promise<void> {
    await this.#afterHeads(work, this.#turn);
    inBackground('new logs', () => this.#afterHeads(this.#logs.deliver(), this.#logDeliveryTurn));
  }

  async #inSlices(work: Generator<void>): Promise<void> {
    for (const _ of work) while (this.#turn.isExpired) await this.#turn.next();
  }

  /** Runs work in time slices. It pauses while headers are sent. */
  async #afterHeads(work: Generator<void>, turn: TimeSlice): Promise<void> {
    for (const _ of work) while (turn.isExpired || this.#isSendingHeads) await turn.next();
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
