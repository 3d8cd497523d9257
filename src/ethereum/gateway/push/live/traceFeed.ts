import { awaitedLater, inBackground } from '../../../../platform/background/index.ts';
import type { HeadChange } from '../../../ingest/index.ts';
import type { WantedTraces } from '../../traceIndex/history/params.ts';
import { type LiveItem, liveTraces, wantedTraces } from './liveTraces.ts';
import type { Sink } from './sink.ts';
import { Subscribers } from './subscribers.ts';

/** Maximum number of traces in unsent changes, at about 500 bytes each. Reached only while the index catches up. */
const MAX_WAITING_TRACES = 50_000;

interface Waiting extends HeadChange {
  /** Sequence number of the change. It determines which subscribers receive the change. */
  readonly moment: number;
}

/** Highest block after all changes so far. The hash is undefined if only the number is known. */
interface Tip {
  readonly number: number;
  readonly hash?: string;
}

/** Turns the delivery of index changes to this feed on or off. Resolves when the change is in effect. */
export type WantChanges = (areWanted: boolean) => Promise<void>;

/** Run work in time slices of their own. */
export interface FeedTurns {
  /** Runs the search for the clients of traces. */
  find(work: Generator<void>): Promise<void>;
  /** Runs the delivery to clients. */
  deliver(work: Generator<void>): Promise<void>;
}

export interface Subscription {
  /** Resolves when the subscription is active. From then on, the subscriber gets every notification. */
  readonly ready?: Promise<void> | undefined;
  end(): void;
}

/** Sends the traces of newly indexed blocks. Makes no requests to nodes, and is idle without subscribers. */
export class TraceFeed {
  readonly #subscribers = new Subscribers<LiveItem>();
  readonly #turns: FeedTurns;
  readonly #want: WantChanges | undefined;
  #begun: Promise<void> | undefined;
  readonly #waiting: Waiting[] = [];
  #waitingTraces = 0;
  #isRunning = false;
  #tip: Tip | undefined;

  /** `want` turns index changes on or off; omitted if they are always on. */
  constructor(turns: FeedTurns, want?: WantChanges) {
    this.#turns = turns;
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

  /** Called when the last subscription has ended. Forgets the last block, because later changes are not delivered. */
  #stop(): void {
    this.#tip = undefined;
    this.#forgetWaiting();
    inBackground('new traces', () => this.#want?.(false));
  }

  /** Must be called for each change of the newest blocks in the index. Changes are sent one after the other. */
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
      await this.#turns.find(this.#tell(change));
      inBackground('new traces', () => this.#turns.deliver(this.#subscribers.deliver()));
    }
    this.#isRunning = false;
  }

  *#tell({ undoFrom, blocks, moment }: Waiting): Generator<void> {
    if (undoFrom !== undefined) yield* this.#subscribers.sendRemoved(undoFrom);
    for (const block of blocks) {
      const traces = liveTraces(block, (value) => this.#subscribers.wants(0, value));
      yield* this.#subscribers.send({ blockNumber: block.block.number, moment }, traces);
    }
  }

  #forgetWaiting(): void {
    this.#waiting.length = 0;
    this.#waitingTraces = 0;
  }
}

/** Returns true if a change continues at the last known block. Otherwise, blocks or a change were missed. */
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
