import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EtherscanProvider } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HistoryFrame } from '../../src/ethereum/traces/index.ts';
import { connect } from '../support/anvil.ts';
import { plainInternalTransactions } from '../support/plainInternalTransactions.ts';
import { PROGRAM } from '../support/program.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type NodeChain, readChain } from '../traces/support/nodeChain.ts';
import { addressesOf } from '../traces/support/randomQuery.ts';
import { type Answer, send } from './support/send.ts';

const run = promisify(execFile);
const STRANGER = `0x${'ab'.repeat(20)}`;
const NO_ADDRESS = '0x12';
const NOTHING = { status: '0', message: 'No transactions found', result: [] };
const MEMBERS = [
  'blockNumber',
  'timeStamp',
  'hash',
  'transactionHash',
  'from',
  'to',
  'value',
  'contractAddress',
  'input',
  'type',
  'callType',
  'gas',
  'gasUsed',
  'traceId',
  'isError',
  'errCode',
];

/** Invalid queries, with the texts that the error must contain; clients search for some of them. */
const REFUSED: readonly (readonly [says: string, query: string, ...names: readonly string[]])[] = [
  ['no module', 'action=txlistinternal', 'Error! Missing Or invalid Module name', 'module=account'],
  ['another module', 'module=logs&action=getLogs', 'Error! Missing Or invalid Module name'],
  ['no action', 'module=account', 'Error! Missing Or invalid Action name', 'txlistinternal'],
  ['another action', 'module=account&action=txlist', 'Error! Missing Or invalid Action name'],
  ['token transfers', 'module=account&action=tokentx', 'Action name', '"tokentx" is not supported'],
  ['another action of blocks', 'module=block&action=getblockreward', 'Action name', 'getblocknobytime'],
  ['a short address', `address=${NO_ADDRESS}`, 'Error! Invalid address format', NO_ADDRESS, '40 hex digits'],
  ['a list of addresses', `address=${STRANGER},${STRANGER}`, 'Error! Invalid address format'],
  ['a short hash', 'txhash=0x12', 'Error! Invalid txhash format', '64 hex digits'],
  ['a hash and an address', `txhash=0x${'1'.repeat(64)}&address=${STRANGER}`, 'txhash', 'address'],
  ['a startblock in hex', 'startblock=0x1', 'startblock', '0x1', 'whole number'],
  ['a startblock by tag', 'startblock=latest', 'startblock', 'latest'],
  ['a negative endblock', 'endblock=-1', 'endblock', '-1'],
  ['an endblock of 16 digits', 'endblock=9999999999999999', 'endblock'],
  ['a reversed range', 'startblock=5&endblock=4', 'startblock 5', 'endblock 4'],
  ['a page that is not a number', 'page=one', 'page', 'one'],
  ['an offset of 10,001', 'offset=10001', 'Result window is too large', '10000', 'offset 10001'],
  ['a page too far', 'page=101&offset=100', 'Result window is too large', 'page is 101'],
  ['an unknown order', 'sort=down', 'sort', 'down', 'asc or desc'],
  ['an unknown side', 'filterby=both', 'filterby', 'from or to'],
  ['a time', 'starttimestamp=1700000000', 'starttimestamp', 'startblock'],
  ['calls without value', 'include_zero_value=true', 'include_zero_value', 'floodgate_addressTraces'],
  ['another chain', 'chainid=1', 'Missing or unsupported chainid parameter', '31337'],
];

describe('internal transactions in the format of block explorers', () => {
  let shared: SharedChain;
  let floodgate: Floodgate;
  let chain: NodeChain;
  const timestamps = new Map<number, number>();

  const ask = (query: string, more = 'module=account&action=txlistinternal&'): Promise<Answer> =>
    send(`${floodgate.gatewayUrl}/api?${more}${query}`, { method: 'GET' });

  it('returns the block at, before and after a time in the format of Etherscan', async () => {
    const find = async (timestamp: number, closest: string) =>
      (await ask(`timestamp=${timestamp}&closest=${closest}`, 'module=block&action=getblocknobytime&')).json;
    const blocks = [...timestamps].sort(([a], [b]) => a - b);
    for (const [, time] of blocks.slice(0, 5)) {
      const before = blocks.findLast(([, other]) => other <= time)?.[0];
      const after = blocks.find(([, other]) => other >= time)?.[0];
      expect(await find(time, 'before')).toEqual({ status: '1', message: 'OK', result: String(before) });
      expect(await find(time, 'after')).toEqual({ status: '1', message: 'OK', result: String(after) });
    }
  });

  const plain = (
    asked: Partial<Parameters<typeof plainInternalTransactions>[1]>,
    range = { fromBlock: 0, toBlock: chain.head },
  ): HistoryFrame[] =>
    plainInternalTransactions(
      chain.traces,
      { direction: 'either', order: 'asc', ...asked },
      { range, timestampOf: (number) => timestamps.get(number) ?? 0 },
    );

  beforeAll(async () => {
    shared = await startSharedChain();
    floodgate = await startFloodgate({
      upstream: shared.anvil.url,
      args: ['--index-from', '0', '--index-poll-interval-ms', '50'],
    });
    chain = await readChain(shared.anvil.url);
    const node = connect(shared.anvil.url);
    const numbers = Array.from({ length: chain.head + 1 }, (_, number) => `0x${number.toString(16)}`);
    const blocks = await node.batch<{ number: string; timestamp: string }>(
      numbers.map((number) => ['eth_getBlockByNumber', number, false]),
    );
    for (const { number, timestamp } of blocks) timestamps.set(Number(number), Number(timestamp));
    await until('the index to contain the whole chain', async () => {
      const { json } = await ask(`address=${STRANGER}`);
      return json.status === '0' && json.result.length === 0;
    });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await shared?.anvil.stop();
  });

  it('are equal to a plain filter over the traces of the node, for every address', async () => {
    let found = 0;
    for (const address of [undefined, ...addressesOf(chain.traces)])
      for (const order of ['asc', 'desc'] as const)
        for (const direction of ['either', 'from', 'to'] as const) {
          const expected = plain({ address, order, direction });
          const filterBy = direction === 'either' ? '' : `&filterby=${direction}`;
          const { status, json } = await ask(`address=${address ?? ''}&sort=${order}${filterBy}`);
          expect(status).toBe(200);
          expect(json, address).toEqual(
            expected.length === 0
              ? NOTHING
              : { status: '1', message: 'OK', result: expected.map(shownPlainly) },
          );
          found += expected.length;
        }
    expect(found).toBeGreaterThan(100);
    const kinds = new Set(plain({}).map(({ type, hasFailed }) => `${type} ${hasFailed}`));
    expect([...kinds]).toEqual(
      expect.arrayContaining(['call false', 'call true', 'create false', 'suicide false']),
    );
  });

  it('are returned by page, by block range and by transaction', async () => {
    const all = plain({});
    const pages = [];
    for (let page = 1; pages.length === 0 || pages.at(-1).length > 0; page++) {
      const { json } = await ask(`page=${page}&offset=3&sort=asc`);
      pages.push(json.result);
    }
    expect(pages.flat()).toEqual(all.map(shownPlainly));
    const fromBlock = all[0]?.blockNumber ?? 0;
    const toBlock = all[Math.floor(all.length / 2)]?.blockNumber ?? 0;
    const { json } = await ask(`startblock=${fromBlock}&endblock=${toBlock}&page=0&offset=0`);
    expect(json.result).toEqual(plain({}, { fromBlock, toBlock }).map(shownPlainly));
    for (const hash of new Set(all.map(({ transactionHash }) => transactionHash)))
      for (const sort of ['asc', 'desc']) {
        const own = all.filter(({ transactionHash }) => transactionHash === hash).map(shownPlainly);
        const answer = await ask(`txhash=${hash}&sort=${sort}`);
        expect(answer.json.result).toEqual(sort === 'asc' ? own : own.reverse());
      }
  });

  it('have a string in every member', async () => {
    const { json } = await ask('');
    for (const row of json.result) {
      expect(Object.keys(row)).toEqual(MEMBERS);
      expect(Object.values(row).every((value) => typeof value === 'string')).toBe(true);
    }
  });

  it.each([
    ['an address without transactions', `address=${STRANGER}`],
    ['an unknown transaction', `txhash=0x${'12'.repeat(32)}`],
    ['a range past the head', 'startblock=99999999&endblock=999999999'],
    ['the genesis block', 'startblock=0&endblock=0'],
  ])('are empty for %s', async (_, query) => {
    expect((await ask(query)).json).toEqual(NOTHING);
  });

  it('accept parameter names and values in any case and ignore empty values', async () => {
    const query =
      'Module=ACCOUNT&ACTION=TxListInternal&startBlock=&EndBlock=99999999&Sort=ASC&chainId=31337&tag=latest';
    expect((await ask(query, '')).json).toEqual((await ask('')).json);
    expect((await send(`${floodgate.url}/v1/31337/api/?${query}`, { method: 'GET' })).json.status).toBe('1');
  });

  it('are read by the Etherscan provider of ethers', async () => {
    const base = `${floodgate.gatewayUrl}/api`;
    class Explorer extends EtherscanProvider {
      override getUrl(module: string, params: Record<string, string>): string {
        const given = Object.entries(params).map(([name, value]) => `&${name}=${value}`);
        return `${base}?module=${module}${given.join('')}&apikey=${this.apiKey}`;
      }
    }
    const explorer = new Explorer('mainnet', 'YourApiKeyToken');
    const all = await explorer.fetch('account', {
      action: 'txlistinternal',
      startblock: '0',
      endblock: '99999999',
    });
    expect(all).toEqual(plain({}).map(shownPlainly));
    const none = await explorer.fetch('account', { action: 'txlistinternal', address: STRANGER });
    expect(none).toEqual([]);
    await expect(
      explorer.fetch('account', { action: 'txlistinternal', address: NO_ADDRESS }),
    ).rejects.toMatchObject({ info: { result: { status: '0', message: 'NOTOK' } } });
    explorer.destroy();
  });

  it('are read by aioetherscan', async (context) => {
    const isThere = "import importlib.util as u, sys; sys.exit(u.find_spec('aioetherscan') is None)";
    const found = await run('python3', ['-c', isThere]).then(
      () => true,
      () => false,
    );
    if (!found) context.skip('aioetherscan is not installed; run `pip install aioetherscan`');
    const program = fileURLToPath(new URL('./clients/explorer.py', import.meta.url));
    const address = plain({})[0]?.from ?? '';
    const { stdout } = await run('python3', [program, `${floodgate.gatewayUrl}/api`, address, STRANGER]);
    const own = plain({ address, order: 'desc' }).map(shownPlainly);
    expect(own.length).toBeGreaterThan(0);
    expect(JSON.parse(stdout)).toEqual({ whole: own, pages: own, none: NOTHING.message });
  });

  describe('reject', () => {
    it.each(REFUSED)('%s', async (_, query, ...names) => {
      const more = query.startsWith('module') || query.startsWith('action') ? '' : undefined;
      const { status, json } = await ask(query, more);
      expect(status).toBe(200);
      expect(json).toMatchObject({ status: '0', message: 'NOTOK' });
      for (const name of names) expect(json.result).toContain(name);
      expect(json.result.length).toBeLessThan(300);
    });

    it('a time without a block', async () => {
      const block = { module: 'block', action: 'getblocknobytime' };
      for (const query of [
        { ...block, timestamp: '1' },
        { ...block, timestamp: '99999999999', closest: 'after' },
      ]) {
        const { status, json } = await ask('', `${new URLSearchParams(query)}`);
        expect([status, json.status, json.message]).toEqual([200, '0', 'NOTOK']);
        expect(json.result).toBe('Error! No closest block found');
      }
    });

    it('other HTTP methods, and txlistinternal as a JSON-RPC method', async () => {
      const posted = await send(`${floodgate.gatewayUrl}/api`, { body: {} });
      expect(posted).toMatchObject({ status: 405, json: { status: '0', message: 'NOTOK' } });
      expect(posted.headers['allow']).toBe('GET, OPTIONS');
      const body = { jsonrpc: '2.0', id: 1, method: 'txlistinternal', params: [{}] };
      expect((await send(floodgate.gatewayUrl, { body })).status).toBe(403);
    });
  });
});

describe('internal transactions of an incomplete index', () => {
  it('are returned with status 2, and fetched from the node for a single transaction', async () => {
    const { anvil } = await startSharedChain();
    const chain = await readChain(anvil.url);
    const first = chain.head - 5;
    const floodgate = await startFloodgate({
      upstream: anvil.url,
      args: ['--index-from', String(first), '--index-poll-interval-ms', '50'],
    });
    try {
      const ask = (query: string): Promise<Answer> =>
        send(`${floodgate.gatewayUrl}/api?module=account&action=txlistinternal&${query}`, { method: 'GET' });
      const partial = await until('the index to contain all blocks from index.from', async () => {
        const { json } = await ask('endblock=99999999');
        return json.missing?.at(-1)?.[1] === first - 1 && json;
      });
      expect(partial).toMatchObject({
        status: '2',
        message: 'Some internal transactions within this block range have not yet been processed',
        missing: [[1, first - 1]],
      });
      expect((await ask(`startblock=${first}`)).json.status).toMatch(/^[01]$/);
      const early = chain.traces.find(
        ({ blockNumber, transactionHash }) => blockNumber < first && transactionHash !== null,
      );
      const { json } = await ask(`txhash=${early?.transactionHash}`);
      expect(['0', '1']).toContain(json.status);
      expect(json.message).toMatch(/^(OK|No transactions found)$/);
    } finally {
      await floodgate.stop();
      await anvil.stop();
    }
  });
});

describe('access control of internal transactions', () => {
  it('applies API keys, allowed methods and rates as for JSON-RPC', async () => {
    const { anvil } = await startSharedChain();
    const floodgate = await startFloodgate({ upstream: anvil.url });
    try {
      const { gatewayUrl, dataDir } = floodgate;
      const api = `${gatewayUrl}/api?module=account&action=txlistinternal&address=${STRANGER}`;
      const get = (query = ''): Promise<Answer> => send(api + query, { method: 'GET' });
      const key = async (...args: string[]): Promise<string> => {
        const made = await run(process.execPath, [PROGRAM, 'key', ...args, '--data-dir', dataDir]);
        return /fgk_\S{40}/.exec(made.stdout)?.[0] ?? '';
      };
      expect((await get('&apikey=YourApiKeyToken')).status).toBe(200);
      const all = await key('create', '--name', 'all', '--rate', '2');
      const closed = await until('the gateway to require a key', async () => {
        const answer = await get();
        return answer.status === 401 && answer;
      });
      expect(closed.json).toMatchObject({ status: '0', message: 'NOTOK' });
      expect(closed.json.result).toMatch(/^Invalid API Key: /);
      expect((await get('&apikey=YourApiKeyToken')).status).toBe(401);
      expect((await get(`&apiKey=${all}`)).status).toBe(200);
      const narrow = await key('create', '--name', 'narrow', '--methods', 'eth_chainId');
      const refused = await until('the restricted key to be accepted', async () => {
        const answer = await get(`&apikey=${narrow}`);
        return answer.status !== 401 && answer;
      });
      expect(refused).toMatchObject({ status: 403, json: { status: '0', message: 'NOTOK' } });
      const limited = await until('the rate to be exceeded', async () => {
        const answer = await get(`&apikey=${all}`);
        return answer.status === 429 && answer;
      });
      expect(limited.json.result).toMatch(/^Max rate limit reached: /);
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      await floodgate.stop();
      await anvil.stop();
    }
  });
});

/** Formats an internal transaction as the expected row, independently of the product's code. */
function shownPlainly(transaction: HistoryFrame): Record<string, string> {
  const { type, gas = 0n, hasFailed, traceAddress, transactionHash } = transaction;
  return {
    blockNumber: `${transaction.blockNumber}`,
    timeStamp: `${transaction.timestamp}`,
    hash: transactionHash,
    transactionHash,
    from: transaction.from,
    to: transaction.to ?? '',
    value: `${transaction.value}`,
    contractAddress: transaction.created ?? '',
    input: '',
    type,
    callType: type === 'call' ? 'call' : '',
    gas: `${gas}`,
    gasUsed: `${transaction.gasUsed ?? gas}`,
    traceId: `0${traceAddress.map((index) => `_${index + 1}`).join('')}`,
    isError: hasFailed ? '1' : '0',
    errCode: hasFailed ? (transaction.error ?? 'Reverted by its caller') : '',
  };
}
