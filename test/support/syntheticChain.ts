import type { Address, BlockHeader, Data, Hash, Quantity, Trace } from '../../src/ethereum/traces/index.ts';
import type { Random } from './random.ts';

/** A generated block with its traces in order. */
export interface SyntheticBlock {
  readonly header: BlockHeader;
  readonly traces: readonly Trace[];
}

export interface ChainShape {
  readonly addresses: readonly Address[];
  readonly maxTransactions: number;
  readonly maxFrames: number;
}

// Type assertions in this file brand text that has the right form by construction.

export const syntheticAddresses = (count: number): Address[] =>
  Array.from({ length: count }, (_, i) => `0x${(i + 1).toString(16).padStart(40, 'a')}` as Address);

/** Generates the block with this number and parent, with traces of every type. */
export function syntheticBlock(
  random: Random,
  shape: ChainShape,
  { number, parentHash }: { readonly number: number; readonly parentHash?: Hash | undefined },
): SyntheticBlock {
  const hash = random.hex(32) as Hash;
  const traces: Trace[] = [];
  const transactionHashes: Hash[] = [];
  const transactions = random.below(shape.maxTransactions + 1);
  for (let position = 0; position < transactions; position++) {
    const transactionHash = random.hex(32) as Hash;
    transactionHashes.push(transactionHash);
    const frames = random.between(1, shape.maxFrames);
    for (let frame = 0; frame < frames; frame++)
      traces.push(
        frameTrace(random, shape, {
          blockHash: hash,
          blockNumber: number,
          subtraces: frame === 0 ? frames - 1 : 0,
          traceAddress: frame === 0 ? [] : [frame - 1],
          transactionHash,
          transactionPosition: position,
        }),
      );
  }
  if (random.chance(0.2)) traces.push(reward(random.pick(shape.addresses), hash, number));
  const header: BlockHeader = {
    number,
    hash,
    parentHash: parentHash ?? (random.hex(32) as Hash),
    timestamp: 1_700_000_000 + 12 * number,
    transactionHashes,
  };
  return { header, traces };
}

type Place = Pick<
  Extract<Trace, { type: 'call' }>,
  'blockHash' | 'blockNumber' | 'subtraces' | 'traceAddress' | 'transactionHash' | 'transactionPosition'
>;

function frameTrace(random: Random, shape: ChainShape, place: Place): Trace {
  // Low addresses are hot: half of all parties are one of the first two.
  const someone = (): Address =>
    random.chance(0.5) ? random.pick(shape.addresses.slice(0, 2)) : random.pick(shape.addresses);
  const gas = `0x${random.between(1, 2 ** 30).toString(16)}` as Quantity;
  const data = random.hex(random.below(40)) as Data;
  const { blockHash, blockNumber, ...rest } = place;
  const kind = random.below(10);
  if (kind === 0) {
    const failed = random.chance(0.3);
    const result = failed ? null : { address: someone(), code: data, gasUsed: gas };
    const action = {
      creationMethod: 'create2',
      from: someone(),
      gas,
      init: data,
      value: '0x0' as Quantity,
    } as const;
    const error = failed ? { error: 'Out of gas' } : {};
    return { action, blockHash, blockNumber, ...error, result, ...rest, type: 'create' };
  }
  if (kind === 1) {
    const action = { address: someone(), balance: gas, refundAddress: someone() };
    return { action, blockHash, blockNumber, result: null, ...rest, type: 'suicide' };
  }
  const action = { callType: 'call', from: someone(), gas, input: data, to: someone(), value: gas } as const;
  const reverted = random.chance(0.1) ? { error: 'Reverted' } : {};
  const result = { gasUsed: gas, output: data };
  return { action, blockHash, blockNumber, ...reverted, result, ...rest, type: 'call' };
}

function reward(author: Address, blockHash: Hash, blockNumber: number): Trace {
  return {
    action: {
      author,
      rewardType: 'block',
      value: '0x1bc16d674ec80000' as Quantity,
    },
    blockHash,
    blockNumber,
    result: null,
    subtraces: 0,
    traceAddress: [],
    transactionHash: null,
    transactionPosition: null,
    type: 'reward',
  };
}
