import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { partiesOf, type Trace } from '../../src/ethereum/traces/index.ts';
import { call } from '../gateway/support/send.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import {
  type FloodgateProcess,
  type ProcessOptions,
  startFloodgateProcess,
} from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { flipBit, keysOf, mergePostings } from './support/damage.ts';
import { startFailingNode } from './support/failingNode.ts';
import { readChain } from './support/nodeChain.ts';

/** Blocks with transactions at the start of the chain. They are final, because BETWEEN empty blocks follow. */
const OLD = 10;
const BETWEEN = 80;
/** Blocks with transactions at the head of the chain, which are not final. */
const NEW = 6;
/** Number of traces that one request returns. */
const PAGE = 100;

const senderOf = (trace: Trace): string | undefined => partiesOf(trace).from ?? undefined;

type Chain = Awaited<ReturnType<typeof readChain>>;

describe('a server whose index has a damaged record when it starts', () => {
  const root = mkdtempSync(join(tmpdir(), 'floodgate-repaired-'));
  const [dataDir, folder] = [join(root, 'data'), join(root, 'data', 'traces')];
  let anvil: Anvil;
  let chain: Chain;
  let floodgate: FloodgateProcess | undefined;
  let failedFrames: unknown;

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: 5 });
    await traffic.run({ steps: OLD });
    await connect(anvil.url).call('anvil_mine', `0x${BETWEEN.toString(16)}`);
    await traffic.run({ steps: NEW });
    chain = await readChain(anvil.url);
    await start();
    await until('all results are right', areRight);
    failedFrames = await until('the history', readFailedFrames);
    await floodgate?.stop();
  });
  afterEach(() => floodgate?.stop());
  afterAll(async () => {
    await anvil?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  async function start({ upstream = anvil.url, args = [] }: Partial<ProcessOptions> = {}): Promise<void> {
    const usual = ['--index-from', '0', '--index-poll-interval-ms', '50', '--index-finality', 'node'];
    floodgate = await startFloodgateProcess({ upstream, dataDir, args: [...usual, ...args] });
  }

  const damageBlock = (number: number): Promise<unknown> =>
    flipBit(folder, { database: 'chunks-0', key: Buffer.from([0, 0, 0, number, 0, 0, 0, 0]) });

  /**
   * Compares the traces of all blocks, and of each sender, with those of the node. Returns false after an error. A wrong
   * or partial result fails the test.
   */
  async function areRight(): Promise<boolean> {
    for (const from of [undefined, ...new Set(chain.traces.map(senderOf))]) {
      const expected = chain.traces.filter((trace) => from === undefined || senderOf(trace) === from);
      for (let after = 0; after <= expected.length; after += PAGE) {
        const filter = { fromBlock: 0, toBlock: chain.head, after, count: PAGE };
        const { result, error } = (
          await call(`${floodgate?.url}/v1/mainnet`, 'trace_filter', {
            ...filter,
            ...(from !== undefined && { fromAddress: [from] }),
          })
        ).json;
        if (error !== undefined) return false;
        expect(result).toEqual(expected.slice(after, after + PAGE));
      }
    }
    return true;
  }

  /** Returns the failed frames of each sender, for which the attributes are read. Returns false after an error. */
  async function readFailedFrames(): Promise<unknown> {
    const pages: unknown[] = [];
    for (const address of new Set(chain.traces.map(senderOf).filter((sender) => sender !== undefined))) {
      const query = { address, fromBlock: 0, toBlock: chain.head, failed: true };
      const { result, error } = (await call(`${floodgate?.url}/v1/mainnet`, 'floodgate_addressTraces', query))
        .json;
      if (error !== undefined || result.missing.length > 0) return false;
      pages.push(result.traces);
    }
    return pages;
  }

  const heads = { final: 3, recent: OLD + BETWEEN + 2, head: OLD + BETWEEN + NEW };
  const ofBlocks = ['blocks', 'chunks-0', 'attributes'].flatMap((database) =>
    Object.entries(heads).map(([what, number]) => ({ database, what: `${what} block`, number })),
  );
  const meta = ['state', 'head', 'finalized', 'chain', 'unmerged', 'history-segments'];

  it.each([
    ...ofBlocks,
    { database: 'segments', what: 'first segment', number: 0 },
    { database: 'postings', what: 'first segment', number: 0 },
    ...meta.map((what) => ({ database: 'meta', what, number: undefined })),
  ])(
    '$database, $what: the server becomes ready, and serves right results',
    async ({ database, what, number }) => {
      if (database === 'postings') await mergePostings(folder);
      const keys = await keysOf(folder, database);
      const key = keys.find((one) =>
        number === undefined ? one.toString() === what : one.readUInt32BE(0) === number,
      );
      await flipBit(folder, { database, key });
      await start();
      await until('all results are right', areRight);
      expect(await until('the history', readFailedFrames)).toEqual(failedFrames);
      await until('the repair in the log', () => floodgate?.output().includes('index repaired'));
    },
  );

  it('damage that a worker reads is repaired, and all results become right', async () => {
    await mergePostings(folder);
    await damageBlock(heads.final);
    await start({ args: ['--workers', '2'] });
    await until('all results are right', areRight);
    await until('the repair in the log', () => floodgate?.output().includes('index repaired'));
  });

  it('a damaged block that no node traces is an error with the reason, until a node traces it', async () => {
    await mergePostings(folder);
    await damageBlock(heads.final);
    const node = await startFailingNode(anvil.url);
    node.failsAt.set(heads.final, 'error');
    try {
      await start({ upstream: node.url });
      const error = await until('the block to become unavailable', async () => {
        const answer = (await call(`${floodgate?.url}/v1/mainnet`, 'trace_block', heads.final)).json;
        return answer.error.data.reason === 'damaged' && answer.error;
      });
      expect(error).toEqual({
        code: -32_001,
        message: `block ${heads.final} is unavailable: it is damaged in the index, and no node has returned it yet`,
        data: { blockNumber: heads.final, reason: 'damaged' },
      });
      await floodgate?.stop();
    } finally {
      await node.stop();
    }
    await start();
    await until('all results are right', areRight);
  });
});
