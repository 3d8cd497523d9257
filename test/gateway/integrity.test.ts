import { keccak_256 } from '@noble/hashes/sha3.js';
import { Transaction, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkLogs } from '../../src/ethereum/gateway/index.ts';
import {
  checkBlock,
  checkReceipt,
  checkTransaction,
  listRoot,
  MAX_CHECKED_TRANSACTIONS,
  transactionBytes,
} from '../../src/ethereum/nodes/index.ts';
import { type Anvil, connect, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';

type Members = Record<string, unknown>;

/** Chain id of Hoodi, an Ethereum test network, whose transaction and block formats are known. */
const HOODI = '0x88bb0';
/** Above 128 entries, the keys of the transactions trie have two lengths. */
const MANY_TRANSFERS = 140;
const GAS = '0x1c9c380';

/** Init code that emits `logs` logs, each with a different topic. */
const emitting = (logs: number): string =>
  `0x61${logs.toString(16).padStart(4, '0')}5b8060006000a1600190038060035700`;

const hashOf = (bytes: Uint8Array | undefined): string =>
  `0x${Buffer.from(keccak_256(bytes ?? new Uint8Array())).toString('hex')}`;

describe('block checks on an Ethereum network', () => {
  let anvil: Anvil;
  let node: ReturnType<typeof connect>;
  let from: string;
  const blocks: Members[] = [];
  const transactionsOf = (block: Members): Members[] => block['transactions'] as Members[]; // requested in full
  const blockAt = (number: string): Promise<Members> => node.call('eth_getBlockByNumber', number, true);

  beforeAll(async () => {
    anvil = await startAnvil({ extraArgs: ['--chain-id', String(Number(HOODI))] });
    node = connect(anvil.url);
    await (await createTraffic({ url: anvil.url, seed: 5 })).run({ steps: SCRIPT_BLOCKS });
    [from = ''] = await node.call<string[]>('eth_accounts');
    for (let n = 1; n <= SCRIPT_BLOCKS; n++) blocks.push(await blockAt(`0x${n.toString(16)}`));
  });
  afterAll(() => anvil?.stop());

  it('accept valid blocks: each transaction matches its hash, each block its transactions root', async () => {
    for (let i = 0; i < MANY_TRANSFERS; i++)
      await node.call('eth_sendTransaction', { from, to: from, value: `0x${i.toString(16)}`, gas: '0x5208' });
    await node.call('evm_mine');
    const many = await blockAt('latest');
    expect(transactionsOf(many)).toHaveLength(MANY_TRANSFERS);
    const types = new Set<unknown>();
    for (const block of [...blocks, many]) {
      checkBlock(block, {}, HOODI);
      const encoded = transactionsOf(block).map((transaction) => {
        types.add(transaction['type']);
        const bytes = transactionBytes(transaction) ?? new Uint8Array();
        expect(hashOf(bytes)).toBe(transaction['hash']);
        return bytes;
      });
      expect(listRoot(encoded)).toBe(block['transactionsRoot']);
    }
    expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x4']);
  });

  it('reject blocks with a changed, missing or moved transaction', () => {
    for (const block of blocks) {
      const whole = transactionsOf(block);
      if (whole.length > MAX_CHECKED_TRANSACTIONS) continue;
      const changedTo = (transactions: unknown) => () => checkBlock({ ...block, transactions }, {}, HOODI);
      for (const [i, transaction] of whole.entries()) {
        for (const name of ['nonce', 'value', 'gas', 'input', 'to', 'r', 'hash']) {
          const changed = { ...transaction, [name]: changedHex(transaction[name]) };
          expect(changedTo(whole.with(i, changed)), name).toThrow(/its bytes hash to/);
          if (name !== 'hash') expect(() => checkTransaction(changed)).toThrow(/its bytes hash to/);
        }
        const rest = whole
          .toSpliced(i, 1)
          .map((other, at) => ({ ...other, transactionIndex: `0x${at.toString(16)}` }));
        expect(changedTo(rest)).toThrow(/root/);
      }
      const turned = whole
        .toReversed()
        .map((other, at) => ({ ...other, transactionIndex: `0x${at.toString(16)}` }));
      if (whole.length > 1) expect(changedTo(turned)).toThrow(/do not match its root/);
      if (whole.length > 0) expect(changedTo([])).toThrow(/its root requires some/);
    }
  });

  it('skip other networks and unknown transaction types, and detect the same change on a known network', () => {
    const block = blocks.find((one) => transactionsOf(one).length > 1);
    if (block === undefined) throw new Error('the script has no block with two transactions');
    const changed = transactionsOf(block).map(
      (transaction): Members => ({ ...transaction, value: '0x1234' }),
    );
    const later = changed.map((transaction): Members => ({ ...transaction, type: '0x7f' }));
    const check = (transactions: Members[], chainId: string | undefined) => () =>
      checkBlock({ ...block, transactions }, {}, chainId);
    for (const chainId of ['0x89', '0x7a69', undefined]) expect(check(changed, chainId)).not.toThrow();
    expect(check(later, HOODI)).not.toThrow();
    expect(check(changed, HOODI)).toThrow(/its bytes hash to/);
    expect(check(later.toSpliced(0, 1, ...changed.slice(0, 1)), HOODI)).not.toThrow();
    // The other checks do not depend on the network.
    expect(check(changed.toReversed(), '0x89')).toThrow(/another block hash, block number or index/);
    const misplaced = changed.map((transaction): Members => ({ ...transaction, blockNumber: '0x0' }));
    expect(check(misplaced, '0x89')).toThrow(/another block hash, block number or index/);
  });

  it.each([3, 100, 300])('compare the %s logs of a receipt with its bloom filter', async (count) => {
    const hash = await node.call('eth_sendTransaction', { from, data: emitting(count), gas: GAS });
    await node.call('evm_mine');
    const receipt = await node.call<Members>('eth_getTransactionReceipt', hash);
    const logs = receipt['logs'] as Members[]; // every receipt has logs
    expect(logs).toHaveLength(count);
    checkReceipt(receipt, hash);
    const changed = { ...logs[1], topics: [`0x${'ab'.repeat(32)}`] };
    expect(() => checkReceipt({ ...receipt, logs: logs.with(1, changed) }, hash)).toThrow(/bloom/);
    const misplaced = { ...logs[1], blockNumber: '0x0' };
    expect(() => checkReceipt({ ...receipt, logs: logs.with(1, misplaced) }, hash)).toThrow(/block number/);
    const moved = { ...logs[0], address: `0x${'cd'.repeat(20)}` };
    expect(() => checkReceipt({ ...receipt, logs: logs.with(0, moved) }, hash)).toThrow(/bloom/);
  });
});

it('checkLogs rejects logs of two blocks at one height', () => {
  const [a, b] = ['0xaa', '0xbb'];
  const at = (blockNumber: string, blockHash: string) => ({
    blockNumber,
    blockHash,
    address: '0x1',
    topics: [],
  });
  checkLogs({ fromBlock: '0x1', toBlock: '0x2' }, [at('0x1', a), at('0x1', a), at('0x2', b)]);
  const mixed = [at('0x1', a), at('0x2', b), at('0x1', b)];
  expect(() => checkLogs({ fromBlock: '0x1', toBlock: '0x2' }, mixed)).toThrow(/two different blocks 0x1/);
});

it('transactionBytes encodes a blob transaction with the same hash as ethers', async () => {
  const wallet = new Wallet(`0x${'42'.repeat(32)}`);
  const fields = { chainId: 1, nonce: 7, gasLimit: 21_000, value: 5n, data: '0x1234' };
  const storageKeys = [`0x${'00'.repeat(31)}01`];
  const accessList = [{ address: wallet.address.toLowerCase(), storageKeys }];
  const blobVersionedHashes = [`0x01${'ef'.repeat(31)}`];
  const signed = Transaction.from(
    await wallet.signTransaction({
      ...fields,
      type: 3,
      to: wallet.address,
      maxFeePerGas: 300n,
      maxPriorityFeePerGas: 2n,
      accessList,
      maxFeePerBlobGas: 9n,
      blobVersionedHashes,
    }),
  );
  const { r, s, yParity } = signed.signature ?? { r: '', s: '', yParity: 0 };
  const bytes = transactionBytes({
    type: '0x3',
    chainId: '0x1',
    nonce: '0x7',
    gas: '0x5208',
    value: '0x5',
    input: '0x1234',
    to: signed.to?.toLowerCase(),
    maxFeePerGas: '0x12c',
    maxPriorityFeePerGas: '0x2',
    accessList,
    maxFeePerBlobGas: '0x9',
    blobVersionedHashes,
    r,
    s,
    yParity: `0x${yParity}`,
  });
  expect(hashOf(bytes)).toBe(signed.hash);
});

/** Returns a different hex value of the same length. */
function changedHex(value: unknown): string {
  const text = typeof value === 'string' && value.length > 2 ? value : '0x00';
  return text.endsWith('1') ? `${text.slice(0, -1)}2` : `${text.slice(0, -1)}1`;
}
