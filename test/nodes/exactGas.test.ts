import { describe, expect, test } from 'vitest';
import type { Address } from '../../src/ethereum/traces/index.ts';
import { call } from '../gateway/support/send.ts';
import { ACCOUNTS, connect, type Node, NodeError } from '../support/anvil.ts';
import { hasExactGeth, NO_EXACT_GETH, startExactGeth } from '../support/exactGeth.ts';
import type { GethOptions } from '../support/geth.ts';
import { HANG_MS } from '../support/hang.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { ACTOR } from '../support/traffic/actor.ts';
import { ACTORS } from '../support/traffic/cast.ts';
import { createRandom } from '../support/traffic/random.ts';
import { type Nonces, sign, type Transaction } from '../support/traffic/transaction.ts';
import { gasTransactions } from './support/gasTransactions.ts';

const { FLOODGATE_GAS_TRANSACTIONS, FLOODGATE_GAS_SEED } = process.env;
/** Minimum number of transactions on each fork. */
const TRANSACTIONS = Number(FLOODGATE_GAS_TRANSACTIONS ?? 1_000);
const SEED = Number(FLOODGATE_GAS_SEED ?? 40);
const CHAIN_ID = 31_337;
/** More than a transaction takes on a slow machine. */
const TRANSACTION_TIMEOUT_MS = 1_000;

interface Frame {
  readonly action: { readonly gas?: string };
  readonly error?: string;
  readonly result: { gasUsed?: string | undefined } | null;
  readonly transactionHash: string;
}

interface Block {
  readonly transactions: readonly { readonly hash: string; readonly gas: string; readonly type: string }[];
}

const hasGeth = await hasExactGeth();

describe.skipIf(!hasGeth)(`traces from geth${hasGeth ? '' : ` (${NO_EXACT_GETH})`}`, () => {
  test.each(['osaka', 'amsterdam'] as const)(
    'equal the frames of the EVM for random transactions on %s, except gasUsed after refunds, floors and gas for state',
    async (fork) => {
      const geth = await startExactGeth({ fork, code: new Map(ACTORS.map((actor) => [actor, ACTOR])) });
      try {
        const node = connect(geth.url);
        await mineTransactions(node, fork);
        const counts = await compare(node);
        if (FLOODGATE_GAS_TRANSACTIONS)
          process.stdout.write(`${fork}, seed ${SEED}: ${JSON.stringify(counts)}\n`);
        expect(counts.transactions).toBeGreaterThanOrEqual(TRANSACTIONS);
        // The search covers what it is for.
        expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
      } finally {
        await geth.stop();
      }
    },
    HANG_MS + TRANSACTIONS * TRANSACTION_TIMEOUT_MS,
  );
});

/** Sends random transactions in blocks. The pool rejects some of them, for example those with too little gas. */
async function mineTransactions(node: Node, fork: GethOptions['fork']): Promise<void> {
  const random = createRandom(SEED);
  for (let mined = 0; mined < TRANSACTIONS; ) {
    const nonces: Nonces = new Map();
    for (const { address } of ACCOUNTS)
      nonces.set(address, Number(await node.call('eth_getTransactionCount', address, 'latest')));
    for (const transaction of gasTransactions(random, fork)) await send(node, transaction, nonces);
    await node.call('search_mine');
    const { transactions } = await node.call<Block>('eth_getBlockByNumber', 'latest', false);
    mined += transactions.length;
  }
}

/** Sends a transaction. If the pool rejects it, no nonce is used. */
async function send(node: Node, transaction: Transaction, nonces: Nonces): Promise<void> {
  const before: ReadonlyArray<readonly [Address, number]> = [...nonces];
  try {
    await node.call('eth_sendRawTransaction', sign(transaction, CHAIN_ID, nonces));
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    for (const [address, nonce] of before) nonces.set(address, nonce);
  }
}

/** Compares all traces that Floodgate indexes with the frames of the EVM, and counts transactions. */
async function compare(node: Node) {
  const counts = { transactions: 0, failed: 0, authorizing: 0, gasUsedExact: 0, gasUsedTooLow: 0 };
  const floodgate = await startFloodgate({ upstream: node.url });
  try {
    const head = Number(await node.call('eth_blockNumber'));
    for (let number = 1; number <= head; number++) {
      const block = `0x${number.toString(16)}`;
      const [{ transactions }, receipts, exact] = await Promise.all([
        node.call<Block>('eth_getBlockByNumber', block, true),
        node.call<Array<{ gasUsed: string }>>('eth_getBlockReceipts', block),
        node.call<Array<{ result: Frame[] }>>('debug_traceBlockByNumber', block, { tracer: 'exactTracer' }),
      ]);
      const { json } = await call(floodgate.gatewayUrl, 'trace_block', block);
      if (json.error) throw new Error(`block ${number}: ${JSON.stringify(json.error)}`);
      const served: readonly Frame[] = json.result;
      for (const [index, { hash, gas, type }] of transactions.entries()) {
        const expected = exact[index]?.result ?? expect.unreachable();
        const actual = served.filter(({ transactionHash }) => transactionHash === hash);
        const [root, converted] = [expected[0], actual[0]];
        if (root?.result && converted?.result) {
          const [used, served] = [Number(root.result.gasUsed), Number(converted.result.gasUsed)];
          const paid = Number(gas) - Number(root.action.gas) + used;
          const isPlain = paid === Number(receipts[index]?.gasUsed);
          if (isPlain) expect(served, `gasUsed of ${hash}`).toBe(used);
          else expect(served, `gasUsed of ${hash}`).toBeLessThanOrEqual(used);
          counts[served === used ? 'gasUsedExact' : 'gasUsedTooLow']++;
          converted.result.gasUsed = root.result.gasUsed;
        }
        expect(actual, hash).toEqual(expected);
        counts.transactions++;
        if (root?.error !== undefined) counts.failed++;
        if (type === '0x4') counts.authorizing++;
      }
    }
  } finally {
    await floodgate.stop();
  }
  return counts;
}
