import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SEARCH_MINUTES } from '../support/search.ts';
import { broken, movesOf } from './adversary/search.ts';

const RUNS = 20;
/** What is not tried by then is left out, unless a longer search was asked for, of longer attacks. */
const RUNS_END_AFTER_MS = 4000;

it('whatever an attacker sends for weeks, users stay known and a flood is refused', {
  timeout: (SEARCH_MINUTES + 10) * 60_000,
}, () => {
  const attacks = SEARCH_MINUTES > 0 ? movesOf(8, 9) : movesOf(2, 1);
  const untilMs = Date.now() + SEARCH_MINUTES * 60_000;
  do
    fc.assert(
      fc.property(attacks, (attack) => {
        expect(broken(attack)).toEqual([]);
      }),
      SEARCH_MINUTES > 0 ? { numRuns: RUNS } : { numRuns: RUNS, interruptAfterTimeLimit: RUNS_END_AFTER_MS },
    );
  while (Date.now() < untilMs);
});
