import { JsonRpcProvider } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Address, partiesOf, type Trace } from '../../src/ethereum/traces/index.ts';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type NodeChain, readChain } from '../traces/support/nodeChain.ts';
import { addressesOf } from '../traces/support/randomQuery.ts';
import { call } from './support/send.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
type Any = any;

const ORIGIN = 'http://otterscan.test';
const UNKNOWN_HASH = `0x${'12'.repeat(32)}`;

describe('Otterscan on a node without its methods', () => {
  let shared: SharedChain;
  let floodgate: Floodgate;
  let chain: NodeChain;
  let provider: JsonRpcProvider;
  let blocks: Any[];
  const ask = (method: string, ...params: readonly unknown[]): Promise<Any> =>
    provider.send(method, [...params]);
  const errorOf = async (method: string, ...params: readonly unknown[]): Promise<Any> =>
    (await call(floodgate.gatewayUrl, method, ...params)).json.error;

  beforeAll(async () => {
    shared = await startSharedChain();
    floodgate = await startFloodgate({
      upstream: shared.anvil.url,
      args: ['--index-from', '0', '--index-poll-interval-ms', '50', '--gateway-cors-origins', ORIGIN],
    });
    chain = await readChain(shared.anvil.url);
    const node = connect(shared.anvil.url);
    const numbers = Array.from({ length: chain.head + 1 }, (_, number) => `0x${number.toString(16)}`);
    blocks = await node.batch<Any>(numbers.map((number) => ['eth_getBlockByNumber', number, true]));
    // Otterscan uses ethers 6 with its default batching.
    provider = new JsonRpcProvider(floodgate.gatewayUrl);
    await until('the index to contain the whole chain', async () => {
      const { json } = await call(
        floodgate.gatewayUrl,
        'ots_searchTransactionsBefore',
        `0x${'ab'.repeat(20)}`,
        0,
        25,
      );
      return json.result?.lastPage === true;
    });
  });
  afterAll(async () => {
    provider?.destroy();
    await floodgate?.stop();
    await shared?.anvil.stop();
  });

  it('connects: API level, chain, head and the header of the latest block, in one batch', async () => {
    const [number, chainId, level, header] = await Promise.all([
      ask('eth_blockNumber'),
      ask('eth_chainId'),
      ask('ots_getApiLevel'),
      ask('erigon_getHeaderByNumber', 'latest'),
    ]);
    expect([Number(number), Number(chainId), level]).toEqual([chain.head, 31337, 8]);
    const {
      transactions: _transactions,
      uncles: _uncles,
      withdrawals: _withdrawals,
      size: _size,
      ...own
    } = blocks.at(-1);
    expect(header).toEqual(own);
    expect(await ask('erigon_getHeaderByNumber', chain.head + 1000)).toBe(null);
  });

  it('may be served from another origin', async () => {
    const preflight = await fetch(floodgate.gatewayUrl, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  });

  it('lists the transactions of every address, newest first, in both directions', async () => {
    for (const address of addressesOf(chain.traces)) {
      const expected = plainHashes(chain.traces, address as Address);
      const before: string[] = [];
      for (let number = 0; ; ) {
        const page = await ask('ots_searchTransactionsBefore', address, number, 4);
        expect(page.firstPage).toBe(number === 0);
        checkPage(page);
        before.push(...page.txs.map(({ hash }: Any) => hash));
        if (page.lastPage) break;
        number = Number(page.txs.at(-1).blockNumber);
      }
      expect(before, address).toEqual(expected);
      const after: string[] = [];
      for (let number = 0; ; ) {
        const page = await ask('ots_searchTransactionsAfter', address, number, 4);
        expect(page.lastPage).toBe(number === 0);
        after.unshift(...page.txs.map(({ hash }: Any) => hash));
        if (page.firstPage) break;
        number = Number(page.txs[0].blockNumber);
      }
      expect(after, address).toEqual(expected);
    }
  });

  it('has identical pages for identical requests', async () => {
    const [address] = addressesOf(chain.traces);
    const page = () => ask('ots_searchTransactionsBefore', address, 0, 25);
    expect(await page()).toEqual(await page());
  });

  it('shows the details of every block', async () => {
    for (const { number, hash, transactions } of blocks) {
      const details = await ask('ots_getBlockDetails', Number(number));
      expect(details.block).toMatchObject({ hash, logsBloom: null, transactionCount: transactions.length });
      expect(details.block).not.toHaveProperty('transactions');
      expect(details.issuance).toEqual({ blockReward: '0x0', uncleReward: '0x0', issuance: '0x0' });
      const receipts = await ask('eth_getBlockReceipts', number);
      const fees = receipts.reduce(
        (sum: bigint, { gasUsed, effectiveGasPrice }: Any) =>
          sum + BigInt(gasUsed) * BigInt(effectiveGasPrice),
        0n,
      );
      expect(BigInt(details.totalFees)).toBe(fees);
      expect(await ask('ots_getBlockDetailsByHash', hash)).toEqual(details);
    }
    expect(await ask('ots_getBlockDetails', chain.head + 1000)).toBe(null);
    expect(await errorOf('ots_getBlockDetailsByHash', UNKNOWN_HASH)).toMatchObject({ code: -32001 });
  });

  it('pages through the transactions of a block from its end', async () => {
    for (const { number, transactions } of blocks) {
      const shown: Any[] = [];
      for (let page = 0; ; page++) {
        const { fullblock, receipts } = await ask('ots_getBlockTransactions', Number(number), page, 2);
        expect(fullblock.transactionCount).toBe(transactions.length);
        expect(receipts.map((one: Any) => one.transactionHash)).toEqual(
          fullblock.transactions.map((one: Any) => one.hash),
        );
        for (const receipt of receipts) expect(receipt).toMatchObject({ logs: null, logsBloom: null });
        if (fullblock.transactions.length === 0) break;
        shown.unshift(...fullblock.transactions);
      }
      expect(shown).toEqual(transactions.map((tx: Any) => ({ ...tx, input: tx.input.slice(0, 10) })));
    }
    expect(await ask('ots_getBlockTransactions', chain.head + 1000, 0, 25)).toBe(null);
  });

  it('shows the call tree, the internal operations and the error of every transaction', async () => {
    const [roots, reverted] = [new Map<string, Trace>(), [] as unknown[]];
    for (const trace of chain.traces)
      if (trace.transactionHash !== null && trace.traceAddress.length === 0)
        roots.set(trace.transactionHash, trace);
    const check = async ([hash, root]: readonly [string, Trace]): Promise<void> => {
      const entries = await ask('ots_traceTransaction', hash);
      expect(entries[0]).toMatchObject({ depth: 0, from: partiesOf(root).from });
      for (const operation of await ask('ots_getInternalOperations', hash))
        expect(Object.keys(operation)).toEqual(['type', 'from', 'to', 'value']);
      const error = await ask('ots_getTransactionError', hash);
      if (error !== '0x') reverted.push(error);
      const failed = root.type !== 'reward' && root.error === 'Reverted';
      if (failed) expect(error).toBe(entries[0].output);
      else expect(error).toBe('0x');
    };
    await Promise.all([...roots].map(check));
    expect(reverted).not.toEqual([]);
    for (const method of ['ots_traceTransaction', 'ots_getInternalOperations', 'ots_getTransactionError'])
      expect(await errorOf(method, UNKNOWN_HASH)).toEqual({
        code: -32000,
        message: `transaction ${UNKNOWN_HASH} not found`,
      });
  });

  it('finds every transaction by sender and nonce', async () => {
    const transactions = blocks.flatMap((block) => block.transactions);
    const found = transactions.map(({ from, nonce }: Any) =>
      ask('ots_getTransactionBySenderAndNonce', from, Number(nonce)),
    );
    expect(await Promise.all(found)).toEqual(transactions.map(({ hash }: Any) => hash));
    const { from } = transactions[0];
    expect(await ask('ots_getTransactionBySenderAndNonce', from, 1_000_000)).toBe(null);
    expect(await ask('ots_getTransactionBySenderAndNonce', `0x${'ab'.repeat(20)}`, 0)).toBe(null);
  });

  it('finds the creator of every contract, and whether an account has code', async () => {
    let contracts = 0;
    for (const address of addressesOf(chain.traces)) {
      const hasCode = (await ask('eth_getCode', address, 'latest')) !== '0x';
      expect(await ask('ots_hasCode', address, 'latest')).toBe(hasCode);
      const creation = chain.traces.findLast(
        (trace) => trace.type === 'create' && partiesOf(trace).to === address,
      );
      const creator = await ask('ots_getContractCreator', address);
      if (!hasCode || creation === undefined) expect(creator).toBe(null);
      else {
        contracts++;
        expect(creator).toEqual({ hash: creation.transactionHash, creator: partiesOf(creation).from });
      }
    }
    expect(contracts).toBeGreaterThan(0);
  });

  it.each([
    {
      says: 'a page size of 26',
      method: 'ots_searchTransactionsBefore',
      params: [`0x${'ab'.repeat(20)}`, 0, 26],
      names: ['pageSize', '1 to 25', '26'],
    },
    {
      says: 'a page size of 0',
      method: 'ots_getBlockTransactions',
      params: ['0x1', 0, 0],
      names: ['pageSize', '1 to 25', '0'],
    },
    {
      says: 'the pending block',
      method: 'ots_getBlockDetails',
      params: ['pending'],
      names: ['block', 'latest', 'pending'],
    },
    {
      says: 'a negative block',
      method: 'ots_searchTransactionsAfter',
      params: [`0x${'ab'.repeat(20)}`, -1, 25],
      names: ['blockNumber', '-1'],
    },
    {
      says: 'a short address',
      method: 'ots_getContractCreator',
      params: ['0x12'],
      names: ['address', '0x12'],
    },
  ])('rejects $says', async ({ method, params, names }) => {
    const { code, message } = await errorOf(method, ...params);
    expect(code).toBe(-32602);
    for (const name of names) expect(message).toContain(name);
  });
});

/** Returns the hashes of the transactions with a frame from or to an address, newest first. */
function plainHashes(traces: readonly Trace[], address: Address): string[] {
  const found = traces.filter((trace) => {
    const { from, to } = partiesOf(trace);
    return trace.transactionHash !== null && (from === address || to === address);
  });
  return [...new Set(found.map(({ transactionHash }) => String(transactionHash)))].reverse();
}

function checkPage({ txs, receipts }: Any): void {
  expect(receipts.map((receipt: Any) => receipt.transactionHash)).toEqual(txs.map((tx: Any) => tx.hash));
  for (const receipt of receipts) expect(typeof receipt.timestamp).toBe('number');
}
