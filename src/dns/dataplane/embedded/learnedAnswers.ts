/** Answers on their way from a thread to the detector, a few numbers each, many in one message, and never too many messages. */
import type { AskedName } from '../../detector/index.ts';

const WORDS = 6;
const PER_BATCH = 256;
/** A name learned here is known everywhere so soon. One timer for a batch, none while nothing is answered. */
const FLUSH_MS = 20;
/** 16,384 answers that the detector has not heard yet: more, and it is too busy to learn from them. */
const MAX_UNHEARD_BATCHES = 64;

/** One answer: to which question, in which zone, of which kind (`AnswerKind`), and from which network it was asked. */
export interface LearnedAnswer extends AskedName {
  readonly zone: number;
  readonly kind: number;
  readonly network: number;
}

export class LearnedAnswerQueue {
  /** Answers that taught nothing, because the detector was too busy. */
  lost = 0;
  readonly #send: (batch: Uint32Array) => void;
  readonly #words = new Uint32Array(WORDS * PER_BATCH);
  #count = 0;
  #unheard = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (batch: Uint32Array) => void) {
    this.#send = send;
  }

  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  readonly add = (
    zone: number,
    { hashHigh, hashLow, type }: AskedName,
    kind: number,
    network: number,
  ): void => {
    const at = this.#count++ * WORDS;
    this.#words[at] = hashHigh;
    this.#words[at + 1] = hashLow;
    this.#words[at + 2] = type;
    this.#words[at + 3] = zone;
    this.#words[at + 4] = kind;
    this.#words[at + 5] = network;
    if (this.#count === PER_BATCH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  };

  /** Sends what has come together. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#count === 0) return;
    if (this.#unheard >= MAX_UNHEARD_BATCHES) this.lost += this.#count;
    else {
      this.#unheard++;
      this.#send(this.#words.slice(0, this.#count * WORDS));
    }
    this.#count = 0;
  }

  /** The detector has heard a batch. */
  heard(): void {
    this.#unheard--;
  }
}

/** The answers of a batch, in their order. */
export function* learnedAnswersIn(batch: Uint32Array): Generator<LearnedAnswer> {
  for (let at = 0; at + WORDS <= batch.length; at += WORDS) {
    const [hashHigh = 0, hashLow = 0, type = 0, zone = 0, kind = 0, network = 0] = batch.subarray(
      at,
      at + WORDS,
    );
    yield { hashHigh, hashLow, type, zone, kind, network };
  }
}
