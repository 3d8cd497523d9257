import type { Random } from '../../test/support/random.ts';
import type { EveryBlock } from './everyBlock.ts';
import { call } from './gatewayLoad.ts';
import type { Program } from './program.ts';
import { STABLE_DEPTH } from './stableChain.ts';
import { repeat, rest, Tally } from './tally.ts';

const CLIENTS = 2;
const BETWEEN_REQUESTS_MS = 20;
/** The index follows within so long, whatever befell it. */
const MAX_STALE_MS = 30_000;

interface Load {
  readonly program: Program;
  readonly every: EveryBlock;
  readonly random: Random;
  readonly isOver: () => boolean;
}

/**
 * The newest blocks, which reorganisations replace. An answer must be of one block that the chain has or had, whole; of one
 * that was replaced only as long as the index needs to follow.
 */
export function askNewest(load: Load): { tally: Tally; ended: Promise<unknown> } {
  const tally = new Tally('newest blocks');
  const step = async (): Promise<void> => {
    await rest(BETWEEN_REQUESTS_MS);
    await askOne(load, tally);
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, () => repeat(load.isOver, tally, step)));
  return { tally, ended };
}

async function askOne({ program, every, random }: Load, tally: Tally): Promise<void> {
  const number = every.head - random.below(STABLE_DEPTH);
  const askedAtMs = performance.now();
  const of = random.pick(['block', 'traces'] as const);
  const at = `0x${number.toString(16)}`;
  const { result, error } =
    of === 'block'
      ? await call(program.gatewayUrl, 'eth_getBlockByNumber', [at, false])
      : await call(program.gatewayUrl, 'trace_block', [at]);
  // The chain may be shorter now.
  if (error !== undefined || result === null) return void tally.failed++;
  const hash = hashIn(result);
  // A block without traces tells nothing of itself.
  if (hash === undefined) return void tally.right++;
  const block = await every.find(hash);
  if (block === undefined || block[of] !== JSON.stringify(result))
    return tally.isWrong('no block that the chain ever had', { of, number, answer: result, block });
  const staleMs = askedAtMs - (block.replacedAtMs ?? Number.POSITIVE_INFINITY);
  if (staleMs <= 0) tally.right++;
  else if (staleMs <= MAX_STALE_MS) tally.isStale(staleMs);
  else tally.isWrong(`a block that was replaced ${Math.round(staleMs)} ms before`, { of, number, hash });
}

/** The hash of a block, or of the block that traces are of. */
function hashIn(result: unknown): string | undefined {
  const { hash, blockHash } = (Array.isArray(result) ? (result[0] ?? {}) : result) as {
    hash?: string;
    blockHash?: string;
  }; // what comes is compared with what the node said
  return blockHash ?? hash;
}
