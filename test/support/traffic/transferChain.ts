import { type Call, connect } from '../../../src/devchain/index.ts';
import type { Address, Quantity } from '../../../src/ethereum/traces/index.ts';
import { ACCOUNTS } from './accounts.ts';
import { createRandom, type Random } from './random.ts';

/** Share of the transfers to the hot address: 12,000 in 300 blocks of 100. */
const HOT_SHARE = 0.4;
/** Number of other recipients. Each receives a few transfers in 300 blocks of 100. */
const TAIL = 2_000;
/** A block with a gas limit of 30 million can contain 1,428 plain transfers. */
const MOST_TRANSACTIONS_PER_BLOCK = 1_000;
const SECONDS_PER_BLOCK = 12;
const TRANSFER_GAS: Quantity = quantity(21_000);
/** In wei. Above the base fee after a few hundred full blocks, without a tip. */
const GAS_PRICE: Quantity = quantity(3_000_000_000);

export interface TransferChainOptions {
  readonly url: string;
  readonly blocks: number;
  /** At most 1,000. */
  readonly transactionsPerBlock: number;
  readonly seed: number;
}

export interface TransferChain {
  /** The first and the last of the new blocks. */
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Receives two of five transfers. */
  readonly hotAddress: Address;
  /** All possible recipients, the hot address included. */
  readonly recipients: readonly Address[];
  /** All senders. */
  readonly senders: readonly Address[];
}

/**
 * Adds blocks of plain transfers to an anvil chain. anvil signs them with its own keys. Each transaction has one trace.
 * The same seed on the same chain gives the same blocks.
 */
export async function buildTransferChain(options: TransferChainOptions): Promise<TransferChain> {
  const { url, blocks, transactionsPerBlock, seed } = options;
  if (transactionsPerBlock > MOST_TRANSACTIONS_PER_BLOCK)
    throw new RangeError(
      `transactionsPerBlock is ${transactionsPerBlock}; at most ${MOST_TRANSACTIONS_PER_BLOCK}`,
    );
  const node = connect(url);
  const random = createRandom(seed);
  const senders = ACCOUNTS.map(({ address }) => address);
  const [hotAddress, ...tail] = Array.from({ length: 1 + TAIL }, () => address(random));
  if (!hotAddress) throw new Error('the list has at least one address');

  const head = await node.call<{ number: Quantity; timestamp: Quantity }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  const nonces = (
    await node.batch<Quantity>(senders.map((sender) => ['eth_getTransactionCount', sender, 'pending']))
  ).map(Number);

  const transfer = (): Call => {
    const sender = random.below(senders.length);
    const nonce = nonces[sender] ?? 0;
    nonces[sender] = nonce + 1;
    return [
      'eth_sendTransaction',
      {
        from: senders[sender],
        to: random.chance(HOT_SHARE) ? hotAddress : random.pick(tail),
        value: quantity(1 + random.below(1_000_000)),
        gas: TRANSFER_GAS,
        gasPrice: GAS_PRICE,
        nonce: quantity(nonce),
      },
    ];
  };
  for (let block = 1; block <= blocks; block++) {
    await node.batch(Array.from({ length: transactionsPerBlock }, transfer));
    await node.batch([
      ['evm_setNextBlockTimestamp', Number(head.timestamp) + block * SECONDS_PER_BLOCK],
      ['evm_mine'],
    ]);
  }
  const fromBlock = Number(head.number) + 1;
  return {
    fromBlock,
    toBlock: Number(head.number) + blocks,
    hotAddress,
    recipients: [hotAddress, ...tail],
    senders,
  };
}

function quantity(value: number): Quantity {
  return `0x${value.toString(16)}` as Quantity; // hex without leading zeros
}

function address(random: Random): Address {
  return `0x${random.hex(20)}` as Address; // 20 bytes of lower-case hex
}
