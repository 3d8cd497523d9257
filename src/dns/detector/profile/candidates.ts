/**
 * Pairs of name and query type that were answered once, and become known when they are queried again. Memory is fixed:
 * a new entry evicts the oldest of its set of four. An evicted name needs only one more query.
 */

const WAYS = 4;
/** Words per entry: half of the hash (the other selects the set); then minute and client network (16 bits each). */
const WORDS_PER_ENTRY = 2;
/** Number of sets, in 2 MiB. At 1,000 one-time names/s, entries last for more than four minutes. */
const SETS = 65_536;
/**
 * Minimum calendar minutes between two queries of one network that count as separate: one to two minutes in real time.
 * A retry of a resolver without an answer comes within about five seconds and does not count.
 */
const ASKED_AGAIN_AFTER_MINUTES = 2;

export class Candidates {
  readonly #words = new Uint32Array(SETS * WAYS * WORDS_PER_ENTRY);

  get bytes(): number {
    return this.#words.byteLength;
  }

  /**
   * Records an answered name. `first`: not recorded before. `again`: another network queried it, or the same network
   * ASKED_AGAIN_AFTER_MINUTES later, so the name is now learned. `repeated`: neither.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  note(high: number, low: number, network: number, nowMinutes: number): 'first' | 'repeated' | 'again' {
    const words = this.#words;
    const first = (low % SETS) * WAYS * WORDS_PER_ENTRY;
    const packed = ((nowMinutes & 0xffff) | (network << 16)) >>> 0;
    let oldest = first;
    let oldestAge = -1;
    for (let at = first; at < first + WAYS * WORDS_PER_ENTRY; at += WORDS_PER_ENTRY) {
      const note = words[at + 1] as number; // index within the set
      const isFree = words[at] === 0 && note === 0;
      const age = isFree ? 0x10000 : (nowMinutes - note) & 0xffff;
      if (words[at] === high && !isFree)
        return note >>> 16 !== packed >>> 16 || age >= ASKED_AGAIN_AFTER_MINUTES ? 'again' : 'repeated';
      if (age > oldestAge) {
        oldest = at;
        oldestAge = age;
      }
    }
    words[oldest] = high;
    words[oldest + 1] = packed;
    return 'first';
  }
}
