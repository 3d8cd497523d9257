import { createHash } from 'node:crypto';
import { type Player, startFakeNode } from './player.ts';

type Json = Record<string, unknown>;

/** Recorded blocks: by number, the traces that the recorded node returned. */
export type RecordedBlocks = ReadonlyMap<number, readonly Json[]>;

/** A recorded trace of type `reward`. */
interface Reward {
  readonly action: { readonly author: string; readonly value: string };
}

/** Full block reward by fork, in wei: frontier, byzantium (EIP-649), constantinople (EIP-1234). */
const fullReward = (number: number): bigint =>
  10n ** 18n * (number < 4_370_000 ? 5n : number < 7_280_000 ? 3n : 2n);

const hex = (number: number): string => `0x${number.toString(16)}`;
const made = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

/**
 * Starts a fake node that returns recorded traces for `trace_block`. Headers are not recorded, so they are generated
 * from the traces (hash, transactions), with parent hashes that match recorded neighbours. Other blocks are empty.
 * The finalized block is 64 blocks below `head`.
 */
export async function startPlaybackNode(blocks: RecordedBlocks, head: number): Promise<Player> {
  const hashOf = (number: number): string =>
    String(blocks.get(number)?.[0]?.['blockHash'] ?? made(`block ${number}`));
  const transactionsOf = (number: number): string[] => [
    ...new Set(
      (blocks.get(number) ?? []).flatMap((trace) => (trace['transactionHash'] as string | null) ?? []),
    ),
  ];
  const blockOf = new Map(
    [...blocks.keys()].flatMap((number) => transactionsOf(number).map((hash) => [hash, number] as const)),
  );
  const rewardsOf = (number: number): readonly Reward[] =>
    (blocks.get(number) ?? []).filter(({ type }) => type === 'reward') as unknown as Reward[];
  const uncleHashes = (number: number): string[] =>
    rewardsOf(number)
      .slice(1)
      .map((_, i) => made(`uncle ${i} of ${number}`));
  /** Returns an uncle generated from its reward: an uncle earns one eighth less for each block of its age. */
  const uncle = (number: number, i: number): Json | null => {
    const reward = rewardsOf(number)[i + 1];
    if (reward === undefined) return null;
    const { author, value } = reward.action;
    const age = 8n - (8n * BigInt(value)) / fullReward(number);
    const members = { hash: uncleHashes(number)[i], number: hex(number - Number(age)), miner: author };
    return { ...header(number), ...members, transactions: [], uncles: [] };
  };
  const header = (number: number): Json | null =>
    number > head
      ? null
      : {
          number: hex(number),
          hash: hashOf(number),
          parentHash: hashOf(number - 1),
          timestamp: hex(1_438_269_988 + 13 * number),
          difficulty: rewardsOf(number).length > 0 ? '0x1' : '0x0',
          gasLimit: '0x1c9c380',
          gasUsed: '0x0',
          miner: rewardsOf(number)[0]?.action.author ?? `0x${'00'.repeat(20)}`,
          transactions: transactionsOf(number),
          uncles: uncleHashes(number),
        };
  const numberOf = (bound: unknown): number =>
    bound === 'latest' ? head : bound === 'safe' || bound === 'finalized' ? head - 64 : Number(bound);
  const answer = (method: string, [first, second]: readonly unknown[]): unknown => {
    switch (method) {
      case 'eth_chainId':
        return '0x1';
      case 'eth_blockNumber':
        return hex(head);
      case 'web3_clientVersion':
        return 'Playback/of-recorded-answers';
      case 'eth_getBlockByNumber':
        return header(numberOf(first));
      case 'eth_getUncleByBlockHashAndIndex': {
        const number = [...blocks.keys()].find((recorded) => hashOf(recorded) === first) ?? -1;
        return uncle(number, Number(second));
      }
      case 'trace_block':
        return structuredClone(blocks.get(numberOf(first)) ?? []);
      case 'eth_getTransactionByHash': {
        const number = blockOf.get(String(first));
        return number === undefined ? null : { hash: first, blockNumber: hex(number) };
      }
      default:
        return undefined;
    }
  };
  return startFakeNode(answer);
}
