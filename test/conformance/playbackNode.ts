import { createHash } from 'node:crypto';
import { type Player, startPlayer } from './player.ts';

type Json = Record<string, unknown>;

/** A recorded block: its number, and the traces that the recorded node gave for it. */
export type RecordedBlocks = ReadonlyMap<number, readonly Json[]>;

const hex = (number: number): string => `0x${number.toString(16)}`;
const made = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

/**
 * A recording player, no node: it plays recorded traces back as `trace_block` answers of an upstream node. Headers are
 * not recorded: each is made up around what its traces tell (hash, transactions), with parents that link where neighbours
 * are recorded. Other blocks are made up and empty. Its head is what the test says; all up to 64 below is final.
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
  const header = (number: number): Json | null =>
    number > head
      ? null
      : {
          number: hex(number),
          hash: hashOf(number),
          parentHash: hashOf(number - 1),
          timestamp: hex(1_438_269_988 + 13 * number),
          gasLimit: '0x1c9c380',
          gasUsed: '0x0',
          miner: `0x${'00'.repeat(20)}`,
          transactions: transactionsOf(number),
          uncles: [],
        };
  const numberOf = (bound: unknown): number =>
    bound === 'latest' ? head : bound === 'safe' || bound === 'finalized' ? head - 64 : Number(bound);
  const answer = (method: string, [first]: readonly unknown[]): unknown => {
    switch (method) {
      case 'eth_chainId':
        return '0x1';
      case 'eth_blockNumber':
        return hex(head);
      case 'web3_clientVersion':
        return 'Playback/of-recorded-answers';
      case 'eth_getBlockByNumber':
        return header(numberOf(first));
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
  return startPlayer(answer);
}
