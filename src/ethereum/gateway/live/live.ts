import { RpcError, SharedTurn } from '../../jsonrpc/index.ts';
import { refuse } from '../methods/kind.ts';
import { liveLogFilter } from '../methods/logFilter.ts';
import type { Network } from '../relay/network.ts';
import { type ChainChange, HeadFeed, type LiveBlock } from './headFeed.ts';
import { liveBlocks } from './liveBlocks.ts';
import { type LiveLog, liveLogs } from './liveLogs.ts';
import { type LiveLogFilter, LogSubscribers } from './logSubscribers.ts';
import type { Sink } from './sink.ts';

/** A node that has told of a head may not have its block yet: it is asked again so much later. */
const RETRY_MS = 250;
/** Subscribers are told one after the other: after so long others have their turn. */
const TURN_MS = 3;

const KINDS = '"newHeads", "logs"';
const PENDING = 'newPendingTransactions';

/** What is new of one network, for whoever wants it pushed: each block is fetched once for all of them. */
export class Live {
  readonly #feed: HeadFeed;
  readonly #logsOf: (block: LiveBlock) => Promise<readonly LiveLog[]>;
  readonly #heads = new Set<Sink>();
  readonly #logs = new LogSubscribers();
  /** All subscriptions. */
  readonly #open = new Set<Sink>();
  readonly #turn = new SharedTurn(TURN_MS);

  constructor(network: Network) {
    const { pool } = network;
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

  stop(): void {
    this.#feed.stop();
  }

  /** Begins a subscription of `eth_subscribe`; what it returns ends it. Throws RpcError where it cannot be. */
  subscribe(params: readonly unknown[], sink: Sink): () => void {
    const end = this.#add(params, sink);
    this.#open.add(sink);
    this.#feed.start();
    return () => {
      end();
      this.#open.delete(sink);
      if (this.#open.size === 0) this.#feed.stop();
    };
  }

  #add([kind, options, ...more]: readonly unknown[], sink: Sink): () => void {
    if (kind === PENDING)
      throw new RpcError(
        'invalidParams',
        `there are no subscriptions to ${PENDING}: transactions are not seen here before they are in a block; there are ${KINDS}`,
      );
    if (kind !== 'newHeads' && kind !== 'logs')
      return refuse('params[0] (subscription)', `one of ${KINDS}`, kind);
    const isBare = options === undefined || options === null;
    if (more.length > 0 || (kind === 'newHeads' && !isBare))
      throw new RpcError(
        'invalidParams',
        `${kind} takes ${kind === 'logs' ? 'one' : 'no'} further parameter`,
      );
    if (kind === 'logs') {
      const filter = liveLogFilter.read(isBare ? {} : options, 'params[1] (filter)') as LiveLogFilter; // what it makes
      return this.#logs.add(filter, sink);
    }
    this.#heads.add(sink);
    return () => this.#heads.delete(sink);
  }

  /** Rejects, with nothing told, where the logs of a block cannot be had now. */
  async #tell({ undone, added }: ChainChange): Promise<void> {
    const heads = [...this.#heads];
    const wantsLogs = this.#logs.size > 0;
    const numbers = added.map(() => this.#logs.number());
    const logs: (readonly LiveLog[])[] = [];
    if (wantsLogs) for (const block of added) logs.push(await this.#logsOf(block));
    for (const { hash } of undone) await this.#inTurns(this.#logs.takeBack(hash));
    for (const [i, { hash, header }] of added.entries()) {
      await this.#inTurns(this.#pushHeader(heads, header));
      if (wantsLogs) await this.#inTurns(this.#logs.tell(hash, numbers[i] ?? 0, logs[i] ?? []));
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
