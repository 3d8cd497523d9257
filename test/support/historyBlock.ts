import type { Address, CallType, Data, Hash, Quantity, Trace } from '../../src/ethereum/traces/index.ts';
import type { Random } from './random.ts';
import type { SyntheticBlock } from './syntheticChain.ts';
import { framesOf, randomTree } from './syntheticTree.ts';

// Type assertions in this file brand text that has the right form by construction.

const CALL_TYPES: readonly CallType[] = ['call', 'call', 'call', 'delegatecall', 'staticcall', 'callcode'];

/**
 * Creates a block of random call trees: frames of every kind that fail, transfer values of every size, and have
 * children.
 */
export function historyBlock(
  random: Random,
  addresses: readonly Address[],
  { number, parentHash }: { readonly number: number; readonly parentHash?: Hash | undefined },
): SyntheticBlock {
  const blockHash = random.hex(32) as Hash;
  const traces: Trace[] = [];
  const transactionHashes: Hash[] = [];
  const someone = (): Address => (random.chance(0.4) ? (addresses[0] as Address) : random.pick(addresses));
  const value = (): Quantity => {
    const bits = random.pick([0, 0, 1, 8, 20, 20, 60, 61, 100, 255, 256]);
    const digits = Array.from({ length: bits }, (_, i) => (i === 0 ? '1' : String(random.below(2)))).join('');
    return `0x${(bits === 0 ? 0n : BigInt(`0b${digits}`)).toString(16)}` as Quantity;
  };
  for (let position = random.below(4); position > 0; position--) {
    const transactionHash = random.hex(32) as Hash;
    transactionHashes.push(transactionHash);
    for (const { subtraces, traceAddress } of framesOf(randomTree(random, random.between(1, 9), 3), []))
      traces.push(
        frame(
          { random, someone, value },
          {
            blockHash,
            blockNumber: number,
            subtraces,
            traceAddress,
            transactionHash,
            transactionPosition: transactionHashes.length - 1,
          },
        ),
      );
  }
  if (random.chance(0.3))
    traces.push({
      action: { author: someone(), rewardType: 'block', value: '0x1bc16d674ec80000' as Quantity },
      blockHash,
      blockNumber: number,
      result: null,
      subtraces: 0,
      traceAddress: [],
      transactionHash: null,
      transactionPosition: null,
      type: 'reward',
    });
  const header = {
    number,
    hash: blockHash,
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

interface Draw {
  readonly random: Random;
  readonly someone: () => Address;
  readonly value: () => Quantity;
}

function frame({ random, someone, value }: Draw, place: Place): Trace {
  const { blockHash, blockNumber, ...rest } = place;
  const gas = `0x${random.between(1, 2 ** 30).toString(16)}` as Quantity;
  const data = random.hex(random.below(40)) as Data;
  const error = random.chance(0.15) ? { error: random.pick(['Reverted', 'Out of gas']) } : undefined;
  const kind = random.below(8);
  if (kind === 0) {
    const action = {
      creationMethod: 'create',
      from: someone(),
      gas,
      init: data,
      value: value(),
    } as const;
    const result = error === undefined ? { address: someone(), code: data, gasUsed: gas } : null;
    return { action, blockHash, blockNumber, ...error, result, ...rest, type: 'create' };
  }
  if (kind === 1) {
    const action = { address: someone(), balance: value(), refundAddress: someone() };
    return { action, blockHash, blockNumber, result: null, ...rest, type: 'suicide' };
  }
  const callType = random.pick(CALL_TYPES);
  // Nodes report for a delegatecall the value of the enclosing call.
  const action = {
    callType,
    from: someone(),
    gas,
    input: data,
    to: someone(),
    value: callType === 'staticcall' ? ('0x0' as Quantity) : value(),
  };
  const result = error?.error === 'Out of gas' ? null : { gasUsed: gas, output: data };
  return { action, blockHash, blockNumber, ...error, result, ...rest, type: 'call' };
}
