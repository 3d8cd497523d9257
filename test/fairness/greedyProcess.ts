/**
 * A greedy client. Started with a `GreedyJob` as JSON. Writes a line when it is loaded, begins after a line of the
 * standard input, and writes a second line. Runs until SIGTERM, and writes its count as JSON.
 */
import { once } from 'node:events';
import { Random } from '../support/random.ts';
import { GREEDY, type GreedyKind } from './greedy/kinds.ts';
import { yieldToOthers } from './ownPriority.ts';
import type { Target } from './target.ts';

export interface GreedyJob {
  readonly kind: GreedyKind;
  readonly target: Target;
  readonly address: string;
  readonly seed: number;
  /** Factor for numbers of connections and rates, at most 1. */
  readonly size: number;
}

// Attackers have their own machines, so the generator must not take processor time from the measured clients.
yieldToOthers();

async function run({ kind, target, address, seed, size }: GreedyJob): Promise<void> {
  process.stdout.write('loaded\n');
  await once(process.stdin, 'data');
  const greedy = GREEDY[kind]({ target, address, size, random: new Random(seed) });
  process.once('SIGTERM', () => {
    const { count } = greedy;
    greedy.stop();
    process.stdout.write(`${JSON.stringify({ count })}\n`, () => process.exit());
  });
  process.stdout.write('begun\n');
}

void run(JSON.parse(process.argv[2] ?? '') as GreedyJob);
