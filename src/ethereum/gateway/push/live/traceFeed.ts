import { awaitedLater, inBackground } from '../../../../platform/background/index.ts';
import type { HeadChange } from '../../../ingest/index.ts';
import type { WantedTraces } from '../../traceIndex/history/params.ts';
import { type LiveItem, liveTraces, wantedTraces } from './liveTraces.ts';
import type { Sink } from './sink.ts';
import { Subscribers } from './subscribers.ts';

/** Maximum traces in waiting changes, at about 500 bytes each. Reached only while the index catches up. */
const MAX_WAITING_TRACES = 50_000;

interface Waiting extends HeadChange {
  /** Sequence number of the change, which selects the subscribers that receive it. */
  readonly moment: number;
}

/** Highest block of the changes so far, with its hash if known. */
interface Tip {
  readonly number: number;
  readonly hash?: string;
}

/** Starts or stops the delivery of index changes to this feed. When the promise resolves, delivery has started. */
export type WantChanges = (areWanted: boolean) => Promise<void>;

export interface Subscription {
  /** Resolves when the subscription is active. From then on, the subscriber misses no notification. */
  readonly ready?: Promise<void> | undefined;
  end(): void;
}

/** Sends traces when blocks are indexed. Sends no requests to nodes, and does nothing without subscribers. */
export class TraceFeed {
  readonly #subscribers = new Subscribers<LiveItem>();
  readonly #inTurns: (work: Generator<void>) => Promise<void>;
  readonly #want: WantChanges | undefined;
  #begun: Promise<void> | undefined;
  readonly #waiting: Waiting[] = [];
  #waitingTraces = 0;
  #isRunning = false;
  #tip: Tip | undefined;

  /** `inTurns` runs work in time slices. `want` is omitted if all index changes are delivered anyway. */
  constructor(inTurns: (work: Generator<void>) => Promise<void>, want?: WantChanges) {
    this.#inTurns = inTurns;
    this.#want = want;
  }

  add(wanted: WantedTraces, sink: Sink): Subscription {
    const end = this.#subscribers.add(wantedTraces(wanted), sink);
    if (this.#subscribers.size === 1) this.#begun = awaitedLater(this.#want?.(true));
    return {
      ready: this.#begun,
      end: () => {
        end();
        if (this.#subscribers.size === 0) this.#stop();
      },
    };
  }

  /** Called after the last subscription ended. Forgets the last block, because later changes are not delivered. */
  #stop(): void {
    this.#tip = undefined;
    this.#forgetWaiting();
    inBackground('new traces', () => this.#want?.(false));
  }

  /** Must be called for each change of the newest blocks in the index. Changes are processed one at a time. */
  indexChanged(change: HeadChange): void {
    if (this.#subscribers.size === 0) return;
    const moment = this.#subscribers.moment();
    const tip = change.undoFrom === undefined ? this.#tip : { number: change.undoFrom - 1 };
    const isNext = continues(change, tip);
    this.#tip = tipOf(change) ?? tip;
    const traces = tracesIn(change);
    const isTooMuch = this.#waiting.length > 0 && this.#waitingTraces + traces > MAX_WAITING_TRACES;
    if (!isNext || isTooMuch) {
      this.#forgetWaiting();
      return this.#subscribers.missed(moment);
    }
    this.#waiting.push({ ...change, moment });
    this.#waitingTraces += traces;
    inBackground('new traces', () => this.#run());
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let change = this.#waiting.shift(); change !== undefined; change = this.#waiting.shift()) {
      this.#waitingTraces -= tracesIn(change);
      await this.#inTurns(this.#tell(change));
    }
    this.#isRunning = false;
  }

  *#tell({ undoFrom, blocks, moment }: Waiting): Generator<void> {
    if (undoFrom !== undefined) yield* this.#subscribers.sendRemoved(undoFrom);
    for (const block of blocks) {
      const traces = liveTraces(block, (key) => this.#subscribers.wants(key));
      yield* this.#subscribers.send({ blockNumber: block.block.number, moment }, traces);
    }
  }

  #forgetWaiting(): void {
    this.#waiting.length = 0;
    this.#waitingTraces = 0;
  }
}

/** True if a change follows the last known block. Otherwise blocks were skipped or a change was missed. */
function continues({ blocks: [first] }: HeadChange, tip: Tip | undefined): boolean {
  if (first === undefined || tip === undefined) return true;
  const { number, parentHash } = first.block;
  return number === tip.number + 1 && (tip.hash ?? parentHash) === parentHash;
}

function tipOf({ blocks }: HeadChange): Tip | undefined {
  const last = blocks.at(-1)?.block;
  return last && { number: last.number, hash: last.hash };
}

const tracesIn = ({ blocks }: HeadChange): number =>
  blocks.reduce((sum, { block }) => sum + block.traceCount, 0);
