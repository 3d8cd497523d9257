import type { Random } from '../../test/support/random.ts';
import type { EveryBlock } from './everyBlock.ts';
import { call } from './gatewayLoad.ts';
import type { Program } from './program.ts';
import { STABLE_DEPTH } from './stableChain.ts';
import { repeat, rest, Tally } from './tally.ts';

const CLIENTS = 2;
const BETWEEN_REQUESTS_MS = 20;

interface Load {
  readonly program: Program;
  readonly every: EveryBlock;
  readonly random: Random;
  readonly isOver: () => boolean;
}

/** By number: the last block that the index was seen to have there, in the order in which the chain had them. */
type Seen = Map<number, number>;

/**
 * The newest blocks, which reorganisations replace. An answer must be of one block that the chain has or had, whole. One that
 * was replaced is answered until the index has followed, which takes as long as nodes and the machine let it, and never again.
 */
export function askNewest(load: Load): { tally: Tally; ended: Promise<unknown> } {
  const tally = new Tally('newest blocks');
  const seen: Seen = new Map();
  const step = async (): Promise<void> => {
    await rest(BETWEEN_REQUESTS_MS);
    await askOne(load, tally, seen);
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, () => repeat(load.isOver, tally, step)));
  return { tally, ended };
}

async function askOne({ program, every, random }: Load, tally: Tally, seen: Seen): Promise<void> {
  const number = every.head - random.below(STABLE_DEPTH);
  const askedAtMs = performance.now();
  const seenBefore = seen.get(number) ?? -1;
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
  if (of === 'traces') {
    if (block.order < seenBefore)
      return tally.isWrong('a block that the index had left already', { number, hash });
    seen.set(number, Math.max(block.order, seen.get(number) ?? -1));
  }
  const staleMs = askedAtMs - (block.replacedAtMs ?? Number.POSITIVE_INFINITY);
  if (staleMs > 0) tally.isStale(staleMs);
  else tally.right++;
}

/** The hash of a block, or of the block that traces are of. */
function hashIn(result: unknown): string | undefined {
  const { hash, blockHash } = (Array.isArray(result) ? (result[0] ?? {}) : result) as {
    hash?: string;
    blockHash?: string;
  }; // what comes is compared with what the node said
  return blockHash ?? hash;
}
