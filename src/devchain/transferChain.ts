import type { Address, Quantity } from '../ethereum/traces/index.ts';
import { ACCOUNTS } from './accounts.ts';
import { type Call, connect } from './node.ts';
import { createRandom, type Random } from './random.ts';

/** Of all transfers, those that go to the hot address: 300 blocks of 100 give it 12,000. */
const HOT_SHARE = 0.4;
/** Addresses of the long tail. Each is paid a few times in 300 blocks of 100. */
const TAIL = 2_000;
/** A block's gas limit of 30 million holds 1,428 plain transfers. */
const MOST_TRANSACTIONS_PER_BLOCK = 1_000;
const SECONDS_PER_BLOCK = 12;
const TRANSFER_GAS: Quantity = quantity(21_000);
/** In wei. Above the base fee that full blocks reach in a few hundred blocks, no tip needed. */
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
  /** Receives two transfers of five. */
  readonly hotAddress: Address;
  /** All that may have received one, the hot one included. */
  readonly recipients: readonly Address[];
  /** All that sent some. */
  readonly senders: readonly Address[];
}

/**
 * Adds blocks full of plain transfers to an anvil chain, as fast as anvil takes them (it signs them itself, with the
 * keys that it holds). One trace a transaction; the same seed on the same chain gives the same blocks.
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
  if (!hotAddress) throw new Error('the list above has at least one address');

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
