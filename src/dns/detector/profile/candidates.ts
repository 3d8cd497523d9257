/**
 * Names that were answered once: a fixed memory of pairs of name and type that may become known when they are
 * asked for again. Four ways a set, the oldest gives way; what is forgotten here only has to be asked once more.
 */

const WAYS = 4;
/** One half of the hash (the other one chooses the set), and packed: minutes (16 bits), network (16 bits). */
const WORDS_PER_ENTRY = 2;
/** 2 MiB: at a thousand names a second that are asked for only once, more than four minutes of memory. */
const SETS = 65_536;
/**
 * A resolver that got no answer asks again within five seconds or so: that is one question, not two.
 * Counted in whole minutes, so that two askings by one network lie at least one and at most two minutes apart.
 */
const ASKED_AGAIN_AFTER_MINUTES = 2;

export class Candidates {
  readonly #words = new Uint32Array(SETS * WAYS * WORDS_PER_ENTRY);

  get bytes(): number {
    return this.#words.byteLength;
  }

  /**
   * Notes an answered name. Returns `first` when it was not here, `repeated` when it was but has not shown
   * that somebody needs it, `again` when it is asked for by another network or some time later: then it is worth knowing.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  note(high: number, low: number, network: number, nowMinutes: number): 'first' | 'repeated' | 'again' {
    const words = this.#words;
    const first = (low % SETS) * WAYS * WORDS_PER_ENTRY;
    const packed = ((nowMinutes & 0xffff) | (network << 16)) >>> 0;
    let oldest = first;
    let oldestAge = -1;
    for (let at = first; at < first + WAYS * WORDS_PER_ENTRY; at += WORDS_PER_ENTRY) {
      const note = words[at + 1] as number; // inside the set
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
