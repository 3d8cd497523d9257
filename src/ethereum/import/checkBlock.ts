import {
  BlockMismatchError,
  blockRewards,
  type ChainRules,
  checkBlock,
  convertBlock,
  type FullHeader,
  readTraces,
} from '../traces/convert/index.ts';
import type { Address, BlockHeader, Hash, RewardTrace, Trace } from '../traces/index.ts';
import type { FileHeader } from './format.ts';

/** Hash that stands for a transaction without frames. It equals the hash of no frame. */
const NO_FRAMES = 'no frames';
/** An uncle's reward is this number of eighths of the full reward, minus its distance. */
const EIGHTHS = 8n;

/** Checks the traces that Floodgate exported. Throws TraceFormatError or BlockMismatchError. */
export function checkExported(
  header: FileHeader,
  list: readonly object[],
  rules: ChainRules,
): readonly Trace[] {
  const traces = readTraces(list);
  if (header.traceCount !== undefined && traces.length !== header.traceCount)
    throw new BlockMismatchError(
      header.number,
      `the file has ${traces.length} traces, the header says ${header.traceCount}`,
    );
  const hashes = transactionHashesOf(traces, header);
  const { systemTransaction, hasStopRoots } = rules;
  // On some chains, transactions may lack frames. Their hashes are not in the file.
  const mayLackFrames = systemTransaction !== undefined || hasStopRoots === true;
  const lacking = hashes.flatMap((hash, position) => (hash.startsWith(NO_FRAMES) ? [position] : []));
  checkBlock(blockHeader(header, hashes), traces, new Set(mayLackFrames ? lacking : []));
  return traces;
}

/** Converts and checks traces of other programs, as those of a node. Throws TraceFormatError or BlockMismatchError. */
export function convertForeign(
  header: FileHeader,
  list: readonly object[],
  rules: ChainRules,
): readonly Trace[] {
  const sent = readTraces(list);
  const hashes = transactionHashesOf(sent, header);
  const { miner, difficulty } = header;
  if (rules.rewards === 'scheduled' && (miner === undefined || difficulty === undefined))
    throw new BlockMismatchError(
      header.number,
      'the header needs the columns difficulty and author or miner, because the rewards depend on them',
    );
  const full: FullHeader = {
    ...blockHeader(header, hashes),
    miner: miner?.toLowerCase() as Address, // compared only with rewards
    difficulty: difficulty ?? 0n,
    gasUsed: header.gasUsed ?? 0n,
    uncleHashes: [],
  };
  const uncles = unclesOf(full, sent, rules);
  const rewarded = { ...full, uncleHashes: uncles.map(({ hash }) => hash) };
  return convertBlock({ header: rewarded, block: undefined, traces: list, uncles }, 'trace_block', rules)
    .traces;
}

const blockHeader = (
  { number, hash, parentHash, timestamp }: FileHeader,
  transactionHashes: readonly Hash[],
): BlockHeader => ({ number, hash, parentHash, timestamp, transactionHashes });

/** Returns the hashes of a block's transactions by their positions, which the root frames contain. */
function transactionHashesOf(traces: readonly Trace[], { transactionCount = 0 }: FileHeader): Hash[] {
  const hashes: Hash[] = [];
  for (const { traceAddress, transactionHash, transactionPosition } of traces) {
    if (transactionHash === null || transactionPosition === null || traceAddress.length > 0) continue;
    while (hashes.length < transactionPosition) hashes.push(missingHash(hashes.length));
    hashes[transactionPosition] = transactionHash;
  }
  while (hashes.length < transactionCount) hashes.push(missingHash(hashes.length));
  return hashes;
}

const missingHash = (position: number): Hash => `${NO_FRAMES} ${position}` as Hash; // never stored

/**
 * Returns the uncles to which the rewards of a mined block belong: their miners, and their numbers as far as rewards
 * depend on them. `convertBlock` then compares all rewards with the schedule of the chain.
 */
function unclesOf(header: FullHeader, traces: readonly Trace[], rules: ChainRules): readonly FullHeader[] {
  const [own] = blockRewards(header, [], rules);
  if (own === undefined) return [];
  const full = BigInt(own.action.value);
  return traces
    .filter((trace): trace is RewardTrace => trace.type === 'reward' && trace.action.rewardType === 'uncle')
    .map(({ action }, i) => ({
      ...header,
      hash: `uncle ${i}` as Hash, // never stored
      number: header.number - Number(EIGHTHS - (BigInt(action.value) * EIGHTHS) / full),
      miner: action.author,
    }));
}
