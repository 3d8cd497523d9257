/** Polite clients are served correctly next to random mixes of greedy clients. No assertion depends on time. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canListProcesses } from '../server/support/processes.ts';
import { HANG_MS } from '../support/hang.ts';
import { PROGRAM } from '../support/program.ts';
import { sizeInSearch } from '../support/search.ts';
import { faultsOf } from './bounds.ts';
import { FairnessWorld } from './fairnessServer.ts';
import { mixOf } from './mix.ts';
import { type MixReport, runMix } from './runMix.ts';

const SCRIPTS = join(dirname(fileURLToPath(import.meta.url)), '../../dist/.tests');
const MIX_MS = sizeInSearch(8_000, { ordinary: 4_000 });
const ALONE_MS = 1_000;
const SIZE = 0.1;
/** Together, these mixes contain every kind of greedy client. */
const SEEDS = sizeInSearch([109, 86, 285, 134], { ordinary: [109] });
const SEED_OF_WORKERS = 5;

let world: FairnessWorld;
beforeAll(async () => {
  world = await FairnessWorld.start(PROGRAM, SCRIPTS, { oldBlocks: 100, recentBlocks: 100 });
});
afterAll(() => world?.stop());

const run = (seed: number, workers: number): Promise<MixReport> =>
  runMix(mixOf(seed), {
    world,
    scripts: SCRIPTS,
    workers,
    size: SIZE,
    warmUpMs: 0,
    aloneMs: ALONE_MS,
    mixMs: MIX_MS,
    limitMs: HANG_MS,
  });

it.skipIf(!canListProcesses).each(SEEDS)(
  'polite clients receive every response next to the greedy clients of seed %i',
  async (seed) => {
    expect(faultsOf(await run(seed, 1))).toEqual([]);
  },
);

it.skipIf(!canListProcesses)(
  `polite clients of two workers receive every response next to the greedy clients of seed ${SEED_OF_WORKERS}`,
  async () => {
    expect(faultsOf(await run(SEED_OF_WORKERS, 2))).toEqual([]);
  },
);
