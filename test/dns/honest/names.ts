/** Names that flows ask for: fixed sets, new names, and names that live for minutes. */
import { nameToWire, Question, queryPacket, readQuestionSection } from '../../../src/dns/protocol/index.ts';
import type { Random } from '../../support/random.ts';

export const KEY = { high: 0x1234, low: 0x5678 };

export interface NameSource {
  /** Whether every query is for a name that was not asked for before. */
  readonly isNew: boolean;
  /** Returns the number of the next name. `second`: seconds since the rule was enabled. */
  next(random: Random, second: number): number;
  text(number: number): string;
}

/** Returns `size` names of which some are asked for often (Zipf's law with exponent 1), most popular first. */
export function zipf(size: number, text: (number: number) => string): () => NameSource {
  const sums = new Float64Array(size);
  let sum = 0;
  for (let n = 0; n < size; n++) {
    sum += 1 / (n + 1);
    sums[n] = sum;
  }
  return () => ({ isNew: false, text, next: (random) => indexOf(sums, random.next() * sum) });
}

/** Returns the first index whose value exceeds `value`, in ascending values. */
function indexOf(ascending: Float64Array, value: number): number {
  let from = 0;
  let to = ascending.length - 1;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ascending[middle] ?? 0) > value) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Returns names that are each asked for once. */
export const newNames = (text: (number: number) => string) => (): NameSource => {
  let count = 0;
  return { isNew: true, text, next: () => count++ };
};

/** Returns 32 bits that differ for each number below 2^32, and are not in order. */
const scattered = (number: number): number => Math.imul(number + 1, 0x9e3779b1) >>> 0;

/** Returns a label that differs for each number. */
export const labelOf = (number: number): string => scattered(number).toString(36);

/** Returns the labels of an address in reverse, as blocklists and reverse zones have them. */
export const reversed = (number: number, octets: number): string => {
  const bits = scattered(number);
  return Array.from({ length: octets }, (_, octet) => (bits >>> (8 * octet)) & 0xff).join('.');
};

/** Returns 16 nibbles of an interface identifier, as labels of `ip6.arpa`. */
export const nibbles = (number: number): string =>
  [...(scattered(number).toString(16).padStart(8, '0') + number.toString(16).padStart(8, '0'))].join('.');

/** Returns names that exist for `lifeSeconds`; a new one appears every `everySeconds`. */
export const shortLived =
  (
    { everySeconds, lifeSeconds }: { readonly everySeconds: number; readonly lifeSeconds: number },
    text: (number: number) => string,
  ) =>
  (): NameSource => ({
    isNew: false,
    text,
    next(random, second) {
      const newest = Math.floor((second + START_SECONDS) / everySeconds);
      return Math.max(0, newest - random.below(Math.max(1, Math.floor(lifeSeconds / everySeconds))));
    },
  });

/** Added to seconds, so that numbers of names are positive before the rule is enabled. */
const START_SECONDS = 30 * 24 * 3600;

/** Parses the question for a name into `question`, without a cache. */
function readName(name: string, type: number, question: Question): Question {
  readQuestionSection(queryPacket(nameToWire(name), type), KEY, question);
  return question;
}

/** Most questions that are cached for one source. A question takes 1.3 kB. */
const MAX_CACHED = 5000;

/** A source with its questions, and the hours in which each of its names was answered. */
export class AskedNames {
  readonly source: NameSource;
  readonly #type: number;
  readonly #questions = new Map<number, Question>();
  readonly #hours = new Map<number, readonly [before: number, last: number]>();

  constructor(source: NameSource, type: number) {
    this.source = source;
    this.#type = type;
  }

  /** Returns the question for a name. `spare` is overwritten and returned if the question is not cached. */
  question(number: number, spare: Question): Question {
    if (this.source.isNew || number >= MAX_CACHED)
      return readName(this.source.text(number), this.#type, spare);
    const cached =
      this.#questions.get(number) ?? readName(this.source.text(number), this.#type, new Question());
    this.#questions.set(number, cached);
    return cached;
  }

  noteAnswer(number: number, hour: number): void {
    if (this.source.isNew) return;
    const last = this.#hours.get(number)?.[1] ?? NEVER;
    if (last !== hour) this.#hours.set(number, [last, hour]);
  }

  /** Whether the name was answered before. */
  wasAnswered(number: number): boolean {
    return this.#hours.has(number);
  }

  /** Whether the name was answered in two different hours of the last 24. */
  isRecurring(number: number, hour: number): boolean {
    const [before] = this.#hours.get(number) ?? [NEVER, NEVER];
    return before > hour - 24;
  }
}

const NEVER = Number.NEGATIVE_INFINITY;
