import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { verifyTraces } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { plainAnswer } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter, withoutId } from './support/callTraceFilter.ts';
import { flipRandomBits } from './support/damage.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, type Query, randomQuery } from './support/randomQuery.ts';

/** Repeat a search with the printed seed: `FLOODGATE_TEST_SEED=… npx vitest run test/traces/repairSearch`. */
const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 41);
const ROUNDS = sizeInSearch(40, { ordinary: 3 });
/** Blocks with transactions at the start of the chain. The first segment is complete, because empty blocks follow. */
const OLD = 10;
const EMPTY = 1_020;
/** Blocks with transactions at the head of the chain. The last FINAL_DEPTH are not final. */
const NEW = 16;
const FINAL_DEPTH = 5;
/** Number of blocks of the longest range of a filter. */
const RANGE = 800;
const ASKING_AT_ONCE = 3;
/** The index cannot answer; the range ends after the head, which is lower until a damaged block is fetched again. */
const ERRORS = [-32_001, -32_602];

type Json = Record<string, unknown>;

/** False responses to `method`, from the true result, by name. Each is one that checks of a single node detect. */
const LIES: Readonly<
  Record<
    string,
    {
      readonly method: string;
      /** The result is a list or an object, depending on the method. */
      readonly lie: (result: Json[] & Json) => unknown;
    }
  >
> = {
  'traces of another block': {
    method: 'trace_block',
    lie: (traces: Json[]) => traces.map((trace) => ({ ...trace, blockHash: `0x${'bad0'.repeat(16)}` })),
  },
  'no traces': { method: 'trace_block', lie: () => [] },
  'traces without a transaction': {
    method: 'trace_block',
    lie: (traces: Json[]) => traces.filter(({ transactionPosition }) => transactionPosition !== 0),
  },
  'one subtrace too many': {
    method: 'trace_block',
    lie: (traces: Json[]) => traces.map((trace) => ({ ...trace, subtraces: Number(trace['subtraces']) + 1 })),
  },
  'receipts of failed transactions': {
    method: 'eth_getBlockReceipts',
    lie: (receipts: Json[]) => receipts.map((receipt) => ({ ...receipt, status: '0x0' })),
  },
  'receipts of another block': {
    method: 'eth_getBlockReceipts',
    lie: (receipts: Json[]) =>
      receipts.map((receipt) => ({ ...receipt, blockHash: `0x${'bad0'.repeat(16)}` })),
  },
  'another hash': {
    method: 'eth_getBlockByNumber',
    // With another genesis block, the node would be on another chain, with which no server starts.
    lie: (block: Json) => (block['number'] === '0x0' ? block : { ...block, hash: `0x${'bad0'.repeat(16)}` }),
  },
};

describe(`the repair of an index while a node lies, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const root = mkdtempSync(join(tmpdir(), 'floodgate-repair-search-'));
  let anvil: Anvil;
  let liar: InterceptedNode;
  let clickHouse: ClickHouseServer | undefined;
  let floodgate: Floodgate | undefined;
  let chain: NodeChain;

  beforeAll(async () => {
    anvil = await startAnvil();
    liar = await startInterceptedNode(anvil.url);
    await grow(OLD);
    await connect(anvil.url).call('anvil_mine', `0x${EMPTY.toString(16)}`);
    if (!hasClickHouse) return;
    clickHouse = await ClickHouseServer.start();
    const store = ['--trace-store', clickHouse.url()];
    expect(await run(['store', 'migrate', ...store])).toMatchObject({ status: 0 });
    const filled = await run(['index', '--to-store', '--from', '0', ...store, '--upstream', anvil.url]);
    expect(filled.status, filled.stderr).toBe(0);
  });
  afterEach(async () => {
    await floodgate?.stop();
    floodgate = undefined;
    liar.intercept = undefined;
  });
  afterAll(async () => {
    await Promise.all([liar?.stop(), anvil?.stop(), clickHouse?.remove()]);
    rmSync(root, { recursive: true, force: true });
  });

  const grow = async (steps: number) => (await createTraffic({ url: anvil.url, seed: 5 })).run({ steps });

  async function start(dataDir: string, options: readonly string[]): Promise<void> {
    const upstream = random.chance(0.5) ? [liar.url, anvil.url] : [anvil.url, liar.url];
    floodgate = await startFloodgate({
      upstream,
      dataDir,
      whenListening: true,
      args: [
        '--index-poll-interval-ms',
        '50',
        '--index-finality',
        `depth:${FINAL_DEPTH}`,
        '--index-check-receipts',
        ...options,
      ],
    });
  }

  /** Lets a node return false responses, or none, until `stopLying`. Returns the name of the lie. */
  function startLying(): string {
    const name = random.pick([...Object.keys(LIES), 'no response', 'error']);
    const { method, lie } = LIES[name] ?? {};
    liar.intercept = async ({ methods }, answer, response) => {
      const text = await answer();
      if (name === 'no response') return void response.destroy();
      if (name === 'error') return void response.writeHead(500).end();
      if (method === undefined || lie === undefined || !methods.includes(method)) return text;
      const calls = [JSON.parse(text)].flat() as Json[];
      const answers = calls.map((one, i) =>
        methods[i] === method && one['result']
          ? { ...one, result: lie(one['result'] as Json[] & Json) }
          : one,
      );
      return JSON.stringify(text.startsWith('[') ? answers : answers[0]);
    };
    return name;
  }

  /** Returns a random filter with numbers as bounds, because the head of a damaged index may be lower. */
  function query(): Query {
    const { asked, meant } = randomQuery(random, chain, addressesOf(chain.traces));
    const toBlock = random.pick([random.below(chain.head + 1), chain.head - random.below(NEW)]);
    const bounds = { fromBlock: Math.max(0, toBlock - random.below(random.pick([4, 20, RANGE]))), toBlock };
    return { asked: { ...asked, ...bounds }, meant: { ...meant, ...bounds } };
  }

  /** Compares a random result with the node's traces. Returns false after an error. A wrong result fails the test. */
  async function isRight(what: string): Promise<boolean> {
    const url = `${floodgate?.url}/v1/mainnet`;
    if (random.chance(0.2)) {
      const hash = random.pick(chain.traces).transactionHash;
      const { result, error } = (await call(url, 'trace_transaction', hash)).json;
      if (ERRORS.includes(error?.code)) return false;
      expect(result, `${what}: transaction ${hash}`).toEqual(
        chain.traces.filter(({ transactionHash }) => transactionHash === hash),
      );
      return true;
    }
    const { asked, meant } = query();
    const answer = await callTraceFilter(url, asked);
    const expected = plainAnswer(chain.traces, meant);
    if (answer.error !== undefined && ERRORS.includes(answer.error.code)) return false;
    expect(withoutId(answer), `${what}: ${JSON.stringify(asked)}`).toEqual(expected);
    return true;
  }

  /** Returns pages of the history of an address; undefined after an error, or if blocks are missing. */
  async function history(address: string): Promise<unknown> {
    const bounds = { fromBlock: 0, toBlock: chain.head };
    const { result, error } = (
      await call(`${floodgate?.url}/v1/mainnet`, 'floodgate_addressTraces', { address, ...bounds })
    ).json;
    return error === undefined && result.missing.length === 0 ? result.traces : undefined;
  }

  /** Compares the traces of all blocks, and some random results. Returns false after an error. */
  async function areAllRight(what: string): Promise<boolean> {
    for (let fromBlock = 0; fromBlock <= chain.head; fromBlock += RANGE) {
      const toBlock = Math.min(chain.head, fromBlock + RANGE - 1);
      const bounds = { fromBlock, toBlock, count: 200 };
      const meant = { ...bounds, fromAddresses: [], toAddresses: [], mode: 'union' as const };
      for (let after = 0; ; after += 200) {
        const asked = { ...bounds, after };
        const answer = await callTraceFilter(`${floodgate?.url}/v1/mainnet`, asked);
        if (answer.error !== undefined && ERRORS.includes(answer.error.code)) return false;
        expect(withoutId(answer), what).toEqual(plainAnswer(chain.traces, { ...meant, after }));
        if ((answer.result?.length ?? 0) < 200) break;
      }
    }
    for (let i = 0; i < 20; i++) if (!(await isRight(what))) return false;
    return true;
  }

  interface Search {
    readonly name: string;
    readonly options: readonly string[];
    /** Called when the server has stopped. The node still lies. */
    readonly stopped?: (dataDir: string, what: string) => Promise<void>;
  }

  async function search({ name, options, stopped = async () => undefined }: Search): Promise<void> {
    const dataDir = join(root, name);
    await start(dataDir, options);
    if (chain === undefined || chain.head === OLD + EMPTY) await grow(NEW);
    chain = await readChain(anvil.url);
    await until('all results to be right', () => areAllRight('before any damage'));
    const addresses = addressesOf(chain.traces);
    const histories = new Map<string, unknown>();
    for (const address of addresses) histories.set(address, await until('a history', () => history(address)));
    await floodgate?.stop();
    let errors = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const damaged = await flipRandomBits(join(dataDir, 'traces'), random);
      const what = `round ${round}, ${startLying()}, ${damaged.join(', ')}`;
      await start(dataDir, options);
      await Promise.all(
        Array.from({ length: ASKING_AT_ONCE }, async () => {
          for (let i = 0; i < 15; i++) if (!(await isRight(what))) errors++;
        }),
      );
      await until(`all results to be right: ${what}`, () => areAllRight(what));
      for (const address of addresses) {
        const found = await until(`the history of ${address}: ${what}`, () => history(address));
        expect(found, `${what}: history of ${address}`).toEqual(histories.get(address));
      }
      await until('readiness', async () => (await fetch(`${floodgate?.url}/readyz`)).status === 200);
      await floodgate?.stop();
      await stopped(dataDir, what);
      liar.intercept = undefined;
    }
    expect(errors).toBeGreaterThan(0);
  }

  /** Repairs the damage that no request has read, with the commands that `verify` prints. */
  async function repairRest(dataDir: string, what: string): Promise<void> {
    const verify = () => verifyTraces(join(dataDir, 'traces'), () => undefined);
    for (const problem of await verify()) {
      const [, command] = /^repair: floodgate (index --again \S+) /.exec(problem) ?? [];
      if (command === undefined) continue;
      const upstream = ['--upstream', liar.url, '--upstream', anvil.url, '--data-dir', dataDir];
      const repaired = await run([...command.split(' '), ...upstream]);
      expect(repaired.status, `${what}: ${problem}: ${repaired.stderr}`).toBe(0);
    }
    expect(await verify(), what).toEqual([]);
  }

  it('returns right results or errors, and right results after the repair', () =>
    search({ name: 'embedded', options: ['--index-from', '0'], stopped: repairRest }));

  it.skipIf(!hasClickHouse)(
    `returns right results or errors with older blocks in the shared index${WITHOUT_CLICKHOUSE}`,
    () =>
      search({
        name: 'combined',
        options: ['--role', 'gateway', '--trace-store', clickHouse?.url() ?? ''],
      }),
  );
});
