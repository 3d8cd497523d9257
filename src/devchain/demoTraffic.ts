import {
  callOf,
  DESTROYING_INIT,
  DIRECTOR,
  EMPTY_INIT,
  FACTORY,
  FACTORY_INIT,
  type Hex,
  INVALID_INIT,
  NOBODY,
  PROXY,
  PROXY_INIT,
  REVERTING_INIT,
  WALLET,
  WALLET_INIT,
} from './demoContracts.ts';
import type { Call, Node } from './node.ts';

/** Number of blocks that are mined before a new chain is served. The examples in the docs use these blocks. */
export const DEMO_BLOCKS = 8;

/** Addresses of anvil's accounts 5 to 8, which take turns as the sender of a later block. The user has 0 to 4. */
const SENDERS = [
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
] as const;

interface Transaction {
  /** Recipient. Default: the transaction creates a contract, and `data` is the init code. */
  readonly to?: Hex;
  /** Amount in wei. Default: 0. */
  readonly value?: number;
  readonly data?: Hex;
  /** Gas limit. Default: `GAS`. */
  readonly gas?: number;
}

/** Default gas limit, which suffices for every transaction below. Thirty such transactions fit into a block. */
const GAS = 1_000_000;
const TRANSFER_GAS = 21_000;
/** Gas limit that covers the intrinsic gas of a transaction, but not the call it makes. The transaction fails. */
const TOO_LITTLE_GAS = 22_000;
/** Address of a precompiled contract (EIP-196) that fails if its input is not a point of its curve. */
const CURVE_ADD = '0x0000000000000000000000000000000000000006';
const NO_POINT: Hex = `0x${'01'.repeat(64)}`;

const deployments: readonly Transaction[] = [
  { data: WALLET_INIT, value: 1_000 },
  { data: FACTORY_INIT },
  { data: PROXY_INIT },
  { data: EMPTY_INIT },
  { to: WALLET, value: 1, data: callOf(FACTORY, EMPTY_INIT) },
  { data: REVERTING_INIT },
];

/** Transactions of the blocks after the first block. Each block has one of these lists, in rotation. */
const SCENES: readonly (readonly Transaction[])[] = [
  // Transfers, direct and through the wallet.
  [
    { to: NOBODY, value: 1, gas: TRANSFER_GAS },
    { to: NOBODY, value: 2, gas: TRANSFER_GAS },
    { to: NOBODY, value: 0, gas: TRANSFER_GAS },
    { to: WALLET, value: 5 },
    { to: WALLET, value: 3, data: callOf(NOBODY) },
    { to: WALLET, value: 4, data: callOf(DIRECTOR) },
  ],
  // Nested calls.
  [
    { to: PROXY, value: 6, data: callOf(NOBODY) },
    { to: PROXY, value: 2, data: callOf(DIRECTOR) },
    { to: WALLET, value: 7, data: callOf(WALLET, callOf(WALLET, callOf(NOBODY))) },
    { to: WALLET, data: callOf(PROXY, callOf(WALLET, callOf(DIRECTOR))) },
    { to: PROXY, value: 9, data: callOf(FACTORY, EMPTY_INIT) },
  ],
  // Creations.
  [
    { to: FACTORY, data: EMPTY_INIT },
    { to: FACTORY, value: 3, data: WALLET_INIT },
    { to: WALLET, value: 4, data: callOf(FACTORY, WALLET_INIT) },
    { data: FACTORY_INIT },
  ],
  // Failures.
  [
    { to: FACTORY, data: REVERTING_INIT },
    { to: FACTORY, data: INVALID_INIT },
    { to: WALLET, value: 1, data: callOf(CURVE_ADD, NO_POINT) },
    { to: WALLET, data: callOf(NOBODY), gas: TOO_LITTLE_GAS },
    { to: PROXY, value: 2, data: callOf(WALLET, callOf(CURVE_ADD, NO_POINT)) },
  ],
  // Self-destructs.
  [
    { to: FACTORY, value: 8, data: DESTROYING_INIT },
    { to: WALLET, value: 2, data: callOf(FACTORY, DESTROYING_INIT) },
    { data: DESTROYING_INIT, value: 1 },
  ],
];

/** Mines the next demo block and returns its number. The number alone determines the block's transactions. */
export async function mineDemoBlock(node: Node): Promise<number> {
  const number = Number(await node.call('eth_blockNumber')) + 1;
  const from = number <= DEMO_BLOCKS ? DIRECTOR : SENDERS[number % SENDERS.length];
  const nonce = Number(await node.call('eth_getTransactionCount', from, 'pending'));
  const transactions = number === 1 ? deployments : (SCENES[(number - 2) % SCENES.length] ?? []);
  await node.batch(
    // anvil runs the calls of a batch in any order, so each nonce determines the transaction's index in the block.
    transactions.map(
      ({ to, value = 0, data, gas = GAS }, i): Call => [
        'eth_sendTransaction',
        {
          from,
          nonce: quantity(nonce + i),
          gas: quantity(gas),
          value: quantity(value),
          ...(to !== undefined && { to }),
          ...(data !== undefined && { data }),
        },
      ],
    ),
  );
  await node.call('evm_mine');
  return number;
}

const quantity = (value: number): Hex => `0x${value.toString(16)}`;
