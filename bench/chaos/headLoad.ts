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
  readonly isFinished: () => boolean;
}

/** By block number: the order of the newest block that the index returned. */
type Seen = Map<number, number>;

/**
 * Requests the newest blocks, which reorganisations replace. A result must be a complete block that the chain has or
 * had. A replaced block may be returned until the index has followed the reorganisation, but not after that.
 */
export function askNewest(load: Load): { tally: Tally; ended: Promise<unknown> } {
  const tally = new Tally('newest blocks');
  const seen: Seen = new Map();
  const step = async (): Promise<void> => {
    await rest(BETWEEN_REQUESTS_MS);
    await askOne(load, tally, seen);
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, () => repeat(load.isFinished, tally, step)));
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
  // An empty list of traces does not contain the block hash.
  if (hash === undefined) return void tally.right++;
  const block = await every.find(hash);
  if (block === undefined || block[of] !== JSON.stringify(result))
    return tally.isWrong('a block that the chain never had', { of, number, answer: result, block });
  if (of === 'traces') {
    if (block.order < seenBefore)
      return tally.isWrong('an older block than the index returned before', { number, hash });
    seen.set(number, Math.max(block.order, seen.get(number) ?? -1));
  }
  const staleMs = askedAtMs - (block.replacedAtMs ?? Number.POSITIVE_INFINITY);
  if (staleMs > 0) tally.isStale(staleMs);
  else tally.right++;
}

/** Returns the hash of a block, or of the block of some traces. */
function hashIn(result: unknown): string | undefined {
  const { hash, blockHash } = (Array.isArray(result) ? (result[0] ?? {}) : result) as {
    hash?: string;
    blockHash?: string;
  }; // compared with the node's result
  return blockHash ?? hash;
}
