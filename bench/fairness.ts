/**
 * Fairness: polite clients next to random mixes of greedy clients, for `--minutes` (10). Prints a table for each mix,
 * and exits with code 1 if a bound does not hold. `--seed` selects the first mix, `--workers` the number of workers.
 */
import { fileURLToPath } from 'node:url';
import { delaysOf, faultsOf, linesOf } from '../test/fairness/bounds.ts';
import { FairnessWorld } from '../test/fairness/fairnessServer.ts';
import { mixOf } from '../test/fairness/mix.ts';
import { compareAllPriorities } from '../test/fairness/ownPriority.ts';
import { runMix } from '../test/fairness/runMix.ts';
import { BUNDLE, buildBundle } from './support/child.ts';
import { numberOf, optionsOf } from './support/options.ts';

const values = optionsOf({
  minutes: { type: 'string' },
  seed: { type: 'string' },
  workers: { type: 'string' },
});
const MINUTES = numberOf('minutes', values.minutes, { otherwise: 10 });
const SEED = numberOf('seed', values.seed, { otherwise: Date.now() % 100_000 });
const WORKERS = numberOf('workers', values.workers, { otherwise: 1, least: 1 });
const WARM_UP_MS = 5_000;
const ALONE_MS = 10_000;
/** Each client sends more than 100 requests in this time, so that its p99 is not its maximum. */
const MIX_MS = 30_000;
const LIMIT_MS = 10_000;
const SCRIPTS = fileURLToPath(new URL('../test/fairness', import.meta.url));

buildBundle();
compareAllPriorities();
const endMs = performance.now() + MINUTES * 60_000;
const world = await FairnessWorld.start(BUNDLE, SCRIPTS, { oldBlocks: 1_000, recentBlocks: 600 });
console.log(`fairness: ${MINUTES} minutes, ${WORKERS === 1 ? 'one process' : `${WORKERS} workers`}\n`);
const failed: number[] = [];
let mixes = 0;
for (let seed = SEED; mixes === 0 || performance.now() < endMs; seed++) {
  const report = await runMix(mixOf(seed), {
    world,
    scripts: SCRIPTS,
    workers: WORKERS,
    size: 1,
    warmUpMs: WARM_UP_MS,
    aloneMs: ALONE_MS,
    mixMs: MIX_MS,
    limitMs: LIMIT_MS,
  }).catch((cause) => {
    throw new Error(`seed ${seed} was not measured`, { cause });
  });
  mixes++;
  console.log(`${linesOf(report).join('\n')}\n`);
  if (faultsOf(report).length + delaysOf(report).length > 0) failed.push(seed);
}
await world.stop();
console.log(
  `${mixes - failed.length} of ${mixes} mixes within bounds; seeds that failed: ${failed.join(', ') || 'none'}`,
);
process.exit(failed.length > 0 ? 1 : 0);
