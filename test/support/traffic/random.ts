/**
 * A seeded pseudorandom generator: the same seed returns the same numbers on every machine. For test traffic only,
 * never for secrets.
 */
export interface Random {
  /** Returns an integer from 0 to `bound - 1`. */
  below(bound: number): number;
  /** Returns true with the probability `share`. */
  chance(share: number): boolean;
  /** Returns one of `choices`, which must not be empty. */
  pick<Choice>(choices: readonly Choice[]): Choice;
  /** Returns `bytes` random bytes as lower-case hex digits, without `0x`. */
  hex(bytes: number): string;
}

const WORD = 2 ** 32;

/** Mulberry32 (Tommy Ettinger): 32 bits of state, passes the usual statistical tests, five lines. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
  const below = (bound: number): number => Math.floor((next() / WORD) * bound);
  return {
    below,
    chance: (share) => next() / WORD < share,
    pick: (choices) => {
      const choice = choices[below(choices.length)];
      if (choice === undefined) throw new RangeError('pick: choices is empty');
      return choice;
    },
    hex: (bytes) => Array.from({ length: bytes }, () => below(256).toString(16).padStart(2, '0')).join(''),
  };
}
