/** Each target of the fuzzer, briefly: what was found before, and so many mutations of its seeds; `npm run fuzz` takes longer. */
import { expect, it, onTestFinished } from 'vitest';
import { fuzz } from '../../fuzz/engine/fuzz.ts';
import { openTarget, TARGETS } from '../../fuzz/targets.ts';

/** Without coverage: code that other files of this worker have loaded would be counted, or not, by their order. */
const RUNS = 400;
const SEED = 22;

it.each(TARGETS)('%s holds what it must for inputs that failed before, and for new ones', async (name) => {
  const target = await openTarget(name);
  onTestFinished(() => target.close?.());
  const { findings } = await fuzz(target, {
    seed: SEED,
    goesOn: (runs) => runs < target.seeds.length + RUNS,
  });
  expect(findings).toEqual([]);
});
