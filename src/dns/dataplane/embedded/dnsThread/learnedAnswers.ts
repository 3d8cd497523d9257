/**
 * Queue of learned answers in a receiver thread, which sends them to the detector in batches. Limits the number of
 * batches that the detector has not acknowledged.
 */
import type { AskedName } from '../../../detector/index.ts';

const WORDS = 6;
/** Flag in the word that contains the kind of an answer: an access list allowed the query. */
const ALLOWED = 0x100;
const PER_BATCH = 256;
/** Maximum time that an answer waits in a batch, so that all threads soon know its name. */
const FLUSH_MS = 20;
/** Maximum number of unacknowledged batches (16,384 answers). At this number, further answers are discarded. */
const MAX_UNHEARD_BATCHES = 64;

/** A learned answer. `zone`: zone number. `kind`: an `AnswerKind`. `network`: hash of the client network. */
export interface LearnedAnswer extends AskedName {
  readonly zone: number;
  readonly kind: number;
  readonly network: number;
  readonly isAllowed: boolean;
}

export class LearnedAnswerQueue {
  /** Number of answers discarded because the detector was too busy. */
  lost = 0;
  readonly #send: (batch: Uint32Array) => void;
  readonly #words = new Uint32Array(WORDS * PER_BATCH);
  #count = 0;
  #unacknowledged = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (batch: Uint32Array) => void) {
    this.#send = send;
  }

  // biome-ignore lint/complexity/useMaxParams: called for each answer; an options object would be allocated
  readonly add = (
    zone: number,
    { hashHigh, hashLow, type }: AskedName,
    kind: number,
    network: number,
    isAllowed: boolean,
  ): void => {
    const at = this.#count++ * WORDS;
    this.#words[at] = hashHigh;
    this.#words[at + 1] = hashLow;
    this.#words[at + 2] = type;
    this.#words[at + 3] = zone;
    this.#words[at + 4] = isAllowed ? kind | ALLOWED : kind;
    this.#words[at + 5] = network;
    if (this.#count === PER_BATCH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  };

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#count === 0) return;
    if (this.#unacknowledged >= MAX_UNHEARD_BATCHES) this.lost += this.#count;
    else {
      this.#unacknowledged++;
      this.#send(this.#words.slice(0, this.#count * WORDS));
    }
    this.#count = 0;
  }

  acknowledge(): void {
    this.#unacknowledged--;
  }
}

export function* decodeLearnedAnswers(batch: Uint32Array): Generator<LearnedAnswer> {
  for (let at = 0; at + WORDS <= batch.length; at += WORDS) {
    const [hashHigh = 0, hashLow = 0, type = 0, zone = 0, word = 0, network = 0] = batch.subarray(
      at,
      at + WORDS,
    );
    const kind = word & ~ALLOWED;
    yield { hashHigh, hashLow, type, zone, kind, network, isAllowed: kind !== word };
  }
}
