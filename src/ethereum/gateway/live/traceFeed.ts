import type { FollowedChange } from '../../ingest/index.ts';
import type { WantedTraces } from '../history/params.ts';
import { type LiveTrace, liveTraces, wantedTraces } from './liveTraces.ts';
import type { Sink } from './sink.ts';
import { Subscribers } from './subscribers.ts';

/** Traces, at some 500 bytes each, of changes that wait to be told: more come only while a chain is caught up with. */
const MAX_WAITING_TRACES = 50_000;

interface Waiting extends FollowedChange {
  /** When it came: who was there then is told. */
  readonly moment: number;
}

/** The highest block that was heard of; its hash where that is known. */
interface Tip {
  readonly number: number;
  readonly hash?: string;
}

/** Has changes of the index told here, from when it resolves on, or no longer. */
export type WantChanges = (areWanted: boolean) => Promise<void>;

export interface Subscription {
  /** When it has begun, where that takes time: whoever waits for it misses nothing. */
  readonly begun?: Promise<void> | undefined;
  end(): void;
}

/** Tells of the traces of blocks as these are indexed. It costs nothing where nobody wants any, and asks nobody for anything. */
export class TraceFeed {
  readonly #subscribers = new Subscribers<LiveTrace>();
  readonly #inTurns: (work: Generator<void>) => Promise<void>;
  readonly #want: WantChanges | undefined;
  #begun: Promise<void> | undefined;
  readonly #waiting: Waiting[] = [];
  #waitingTraces = 0;
  #isRunning = false;
  #tip: Tip | undefined;

  /** `inTurns` carries work out while others have their turn; `want` is left out where all changes are told here anyway. */
  constructor(inTurns: (work: Generator<void>) => Promise<void>, want?: WantChanges) {
    this.#inTurns = inTurns;
    this.#want = want;
  }

  add(wanted: WantedTraces, sink: Sink): Subscription {
    const end = this.#subscribers.add(wantedTraces(wanted), sink);
    if (this.#subscribers.size === 1) this.#begun = this.#want?.(true);
    return {
      begun: this.#begun,
      end: () => {
        end();
        if (this.#subscribers.size === 0) this.#stop();
      },
    };
  }

  /** Nobody is there any more. What comes next need not follow what came last. */
  #stop(): void {
    this.#tip = undefined;
    this.#forgetWaiting();
    void this.#want?.(false);
  }

  /** The index was changed at its head. Changes are told one after the other. */
  followed(change: FollowedChange): void {
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
    void this.#run();
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
    if (undoFrom !== undefined) yield* this.#subscribers.takeBack(undoFrom);
    for (const block of blocks) {
      const traces = yield* liveTraces(block, (key) => this.#subscribers.wants(key));
      yield* this.#subscribers.tell({ blockNumber: block.block.number, moment }, traces);
    }
  }

  #forgetWaiting(): void {
    this.#waiting.length = 0;
    this.#waitingTraces = 0;
  }
}

/** Whether a change adds to what was heard of before: else something happened to the index in between, or blocks were left out. */
function continues({ blocks: [first] }: FollowedChange, tip: Tip | undefined): boolean {
  if (first === undefined || tip === undefined) return true;
  const { number, parentHash } = first.block;
  return number === tip.number + 1 && (tip.hash ?? parentHash) === parentHash;
}

function tipOf({ blocks }: FollowedChange): Tip | undefined {
  const last = blocks.at(-1)?.block;
  return last && { number: last.number, hash: last.hash };
}

const tracesIn = ({ blocks }: FollowedChange): number =>
  blocks.reduce((sum, { block }) => sum + block.traceCount, 0);
