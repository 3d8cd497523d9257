/**
 * Pairs of name and query type that were answered once. A pair becomes known when it is queried again. Memory is
 * fixed: a hash assigns each pair to a set of four entries, and a new pair evicts the oldest entry of its set. An
 * evicted pair needs one more query to become known.
 */

const WAYS = 4;
/**
 * Words per entry: one half of the pair's hash (the other half selects the set), and a word with the time of the
 * answer and a hash of the client network (16 bits each).
 */
const WORDS_PER_ENTRY = 2;
/** Number of sets, which take 2 MiB. At 1,000 one-time names per second, an entry remains for four minutes. */
const SETS = 65_536;
/**
 * Unit of the stored times, which are numbers of intervals modulo 65,536. The time between two queries is known to an
 * interval, so a rule that demands ten seconds may take 15.
 */
const INTERVAL_MS = 5_000;
/**
 * Minimum number of intervals between two queries from one network, so that the second query is no retry: one minute.
 * A resolver without an answer retries within about five seconds.
 */
const ASKED_AGAIN_AFTER = 13;
/** Minimum number of intervals between two queries from different networks that are {@link Candidates.note} `apart`. */
const APART = 3;

export class Candidates {
  readonly #words = new Uint32Array(SETS * WAYS * WORDS_PER_ENTRY);

  get bytes(): number {
    return this.#words.byteLength;
  }

  /**
   * Records an answered pair of name and query type. Returns:
   * - `first`: the pair was not recorded before.
   * - `again`: another network queried the pair before, or the same network at least a minute ago. If `apart`, only
   *   another network at least ten seconds ago counts. The caller must then learn the pair.
   * - `repeated`: the pair was recorded, but is not queried again in this sense.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
  note(
    high: number,
    low: number,
    network: number,
    nowMs: number,
    apart = false,
  ): 'first' | 'repeated' | 'again' {
    const words = this.#words;
    const first = (low % SETS) * WAYS * WORDS_PER_ENTRY;
    const now = Math.floor(nowMs / INTERVAL_MS);
    const packed = ((now & 0xffff) | (network << 16)) >>> 0;
    let oldest = first;
    let oldestAge = -1;
    for (let at = first; at < first + WAYS * WORDS_PER_ENTRY; at += WORDS_PER_ENTRY) {
      const note = words[at + 1] as number; // index within the set
      const isFree = words[at] === 0 && note === 0;
      const age = isFree ? 0x10000 : (now - note) & 0xffff;
      if (words[at] === high && !isFree) {
        const isOther = note >>> 16 !== packed >>> 16;
        const isAgain = apart ? isOther && age >= APART : isOther || age >= ASKED_AGAIN_AFTER;
        return isAgain ? 'again' : 'repeated';
      }
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
