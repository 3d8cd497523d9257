import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, send } from '../gateway/support/send.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type FailingNode, type NodeFailure, startFailingNode } from './support/failingNode.ts';
import { readChain } from './support/nodeChain.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const FAST_CLOCK = fileURLToPath(new URL('../support/fastClock.cjs', import.meta.url));
const SEED = 12;
const STRANGER = `0x${'ab'.repeat(20)}`;
const FIRST_BLOCKS = 40;
/** Number of client requests for an unavailable block. */
const MANY = 40;
const FAILURES: readonly (readonly [NodeFailure, reason: string])[] = [
  ['error', 'tracerError'],
  ['timeout', 'timeout'],
  ['too large', 'oversized'],
  ['a trace is missing', 'invalid'],
];

interface Trace {
  readonly blockNumber: number;
  readonly transactionHash: string | null;
  readonly action: { readonly from?: string };
}

describe('a block that no node can trace', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-unavailable-'));
  const dataDir = join(folder, 'data');
  let anvil: Anvil;
  let node: FailingNode;
  let floodgate: FloodgateProcess;

  beforeAll(async () => {
    anvil = await startAnvil();
    await grow(FIRST_BLOCKS);
    node = await startFailingNode(anvil.url);
    floodgate = await start();
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await anvil?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (...args: readonly string[]): Promise<FloodgateProcess> =>
    startFloodgateProcess({
      upstream: node.url,
      dataDir,
      args: ['--index-poll-interval-ms', '50', '--index-from', '1', ...args],
      env: { NODE_OPTIONS: `--require ${FAST_CLOCK}` },
    });

  async function grow(steps: number): Promise<number> {
    await (await createTraffic({ url: anvil.url, seed: SEED })).run({ steps });
    return (await readChain(anvil.url)).head;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  const ask = async (method: string, ...params: readonly unknown[]): Promise<any> =>
    (await call(floodgate.gatewayUrl, method, ...params)).json;

  const traceOf = async (blockNumber: number): Promise<Trace[]> =>
    (await readChain(anvil.url)).traces.filter((trace) => trace.blockNumber === blockNumber) as never; // from anvil

  const isIndexed = (blockNumber: number): Promise<boolean> =>
    ask('trace_block', blockNumber).then(({ result }) => Array.isArray(result));

  async function readiness(): Promise<{ status: number; checks: Record<string, string> }> {
    const response = await fetch(`${floodgate.url}/readyz`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, checks };
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'm').exec(text)?.[1]);
  }

  /** Checks that every method reports the block as unavailable and sends no trace request to the node. */
  async function expectUnavailable(blockNumber: number, reason: string): Promise<void> {
    const times = node.tracedTimes(blockNumber);
    const [trace] = (await traceOf(blockNumber)).filter(({ transactionHash }) => transactionHash !== null);
    const { transactionHash, action } = trace ?? { transactionHash: undefined, action: {} };
    const from = action.from as string;
    const around = { fromBlock: blockNumber - 1, toBlock: blockNumber + 1 };
    for (const answer of [
      await ask('trace_block', blockNumber),
      await ask('trace_filter', around),
      await ask('trace_filter', { fromBlock: blockNumber, toBlock: blockNumber, fromAddress: [from] }),
      await ask('trace_transaction', transactionHash),
      await ask('trace_get', transactionHash, ['0x0']),
    ])
      expect(answer.error).toEqual({
        code: -32_001,
        message: `block ${blockNumber} is unavailable: no node can trace it (${reason})`,
        data: { blockNumber, reason },
      });
    for (const other of [blockNumber - 1, blockNumber + 1]) {
      const { result } = await ask('trace_filter', { fromBlock: other, toBlock: other });
      expect(result, `block ${other}`).toEqual(await traceOf(other));
    }
    const { result: page } = await ask('floodgate_addressTraces', { address: from, ...around });
    expect(page.missing).toEqual([[blockNumber, blockNumber]]);
    const query = `module=account&action=txlistinternal&startblock=${around.fromBlock}&endblock=${around.toBlock}`;
    const { json } = await send(`${floodgate.gatewayUrl}/api?${query}`, { method: 'GET' });
    expect(json).toMatchObject({ status: '2', missing: [[blockNumber, blockNumber]] });
    for (let i = 0; i < MANY; i++) await ask('trace_block', blockNumber);
    // With the fast clock, the server retries every few seconds.
    expect(node.tracedTimes(blockNumber) - times).toBeLessThan(MANY / 4);
  }

  const unavailable: [number, string][] = [];

  it.each(FAILURES)('does not stop later blocks if the failure is: %s', async (failure, reason) => {
    const client = await openWebSocket(floodgate.gatewayUrl);
    const { result } = await client.call('eth_subscribe', 'traces', { address: STRANGER });
    const bad = (await readChain(anvil.url)).head + 1;
    node.failsAt.set(bad, failure);
    // The block is the head during the attempts: the node has no later block to trace.
    await grow(1);
    const text = `${bad} (${reason})`;
    await until('the block to be unavailable', async () =>
      (await readiness()).checks['blocks']?.includes(text),
    );
    unavailable.push([bad, reason]);
    const last = await grow(3);
    await until('later blocks to be indexed', () => isIndexed(last));
    await expectUnavailable(bad, reason);
    const { status, checks } = await readiness();
    expect([status, checks['ingest']]).toEqual([200, 'ok']);
    expect(await metric('floodgate_index_unavailable_blocks')).toBe(unavailable.length);
    const [notice] = client.notificationsOf(result);
    expect(notice).toMatchObject({ blockNumber: bad, unavailable: reason, removed: false });
    client.close();
    expect(floodgate.output()).toContain('recorded as unavailable, indexing continues');
  });

  it('stays unavailable after a restart and in workers', async () => {
    for (const args of [[], ['--workers', '2']]) {
      expect(await floodgate.stop()).toBe(0);
      floodgate = await start(...args);
      for (const [block, reason] of unavailable) await expectUnavailable(block, reason);
      const last = await grow(1);
      await until('the next block to be indexed', () => isIndexed(last));
    }
    const client = await openWebSocket(floodgate.gatewayUrl);
    const { result } = await client.call('eth_subscribe', 'traces', { address: STRANGER });
    const bad = (await readChain(anvil.url)).head + 1;
    node.failsAt
      .set(bad, 'error')
      .set(bad + 1, 'error')
      .set(bad + 2, 'timeout');
    const last = await grow(5);
    await until('the block above three unavailable blocks to be indexed', () => isIndexed(last));
    unavailable.push([bad, 'tracerError'], [bad + 1, 'tracerError'], [bad + 2, 'timeout']);
    // The worker of the subscription may learn of a block later than the one that was asked above.
    await until('three notifications', () => client.notificationsOf(result).length >= 3);
    expect(client.notificationsOf(result).map(({ blockNumber }) => blockNumber)).toEqual([
      bad,
      bad + 1,
      bad + 2,
    ]);
    client.close();
    expect((await ask('trace_block', bad + 2)).error.data).toEqual({
      blockNumber: bad + 2,
      reason: 'timeout',
    });
  });

  it('is removed by a reorganisation, and its replacement is indexed', async () => {
    const bad = (await readChain(anvil.url)).head + 1;
    node.failsAt.set(bad, 'error');
    await grow(2);
    await until(
      'the block to be unavailable',
      async () => (await metric('floodgate_index_unavailable_blocks')) > unavailable.length,
    );
    node.failsAt.delete(bad);
    await rebuildTail(anvil.url, { depth: 2, blocks: 3, seed: SEED + 1 });
    await until('the new block to be indexed', () => isIndexed(bad));
    expect((await ask('trace_block', bad)).result).toEqual(await traceOf(bad));
    expect(await metric('floodgate_index_unavailable_blocks')).toBe(unavailable.length);
  });

  it('is reported by export and a restored backup, and retried by floodgate index --retry-unavailable', async () => {
    const { head } = await readChain(anvil.url);
    expect(await floodgate.stop()).toBe(0);
    const data = ['--data-dir', dataDir];
    const flags = ['export', '--from', '1', '--to', String(head), ...data];
    const [[first] = [0]] = unavailable;
    const refused = await run(flags);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain(`no node can trace blocks ${first} (tracerError)`);
    expect(refused.stderr).toContain('--skip-unavailable');
    const skipped = await run([...flags, '--skip-unavailable']);
    expect(skipped.status, skipped.stderr).toBe(0);
    expect(skipped.stderr).toContain(`skipped, because no node can trace them: ${first} (tracerError)`);
    const { traces } = await readChain(anvil.url);
    const isLeft = ({ blockNumber }: Trace): boolean => unavailable.every(([block]) => block !== blockNumber);
    const lines = skipped.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(
      (traces as unknown as Trace[]).filter(({ blockNumber }) => blockNumber > 0).filter(isLeft),
    );

    const verified = await run(['verify', ...data]);
    expect(verified.status, verified.stdout + verified.stderr).toBe(0);
    const [backup, restored] = [join(folder, 'backup'), join(folder, 'restored')];
    expect(await run(['backup', backup, ...data])).toMatchObject({ status: 0 });
    expect(await run(['restore', backup, '--data-dir', restored])).toMatchObject({ status: 0 });
    expect((await run([...flags.slice(0, 5), '--data-dir', restored])).stderr).toContain(
      `${first} (tracerError)`,
    );

    const [[healed] = [0], ...rest] = unavailable;
    node.failsAt.delete(healed);
    const retry = ['index', '--retry-unavailable', '--upstream', node.url, ...data];
    const some = await run(retry);
    expect(some).toMatchObject({ status: 1 });
    expect(some.stdout).toContain(
      `Indexed 1 of ${unavailable.length} unavailable blocks. Still unavailable: ${rest.length}`,
    );
    for (const [block] of rest.slice(1)) node.failsAt.delete(block);
    unavailable.splice(0, unavailable.length, ...rest.slice(0, 1));
    const most = await run(retry);
    expect(most.stdout).toContain(`Indexed ${rest.length - 1} of ${rest.length} unavailable blocks.`);
  });

  it('is retried after a minute and indexed when the node traces it', async () => {
    floodgate = await start();
    const [[block, reason] = [0, '']] = unavailable;
    await expectUnavailable(block, reason);
    const times = node.tracedTimes(block);
    await until('another attempt', () => node.tracedTimes(block) > times);
    node.failsAt.delete(block);
    await until('the block to be indexed', () => isIndexed(block));
    expect((await ask('trace_block', block)).result).toEqual(await traceOf(block));
    const { checks } = await readiness();
    expect(checks['blocks']).toBeUndefined();
    expect(await metric('floodgate_index_unavailable_blocks')).toBe(0);
    const { head, traces } = await readChain(anvil.url);
    const { result } = await ask('trace_filter', { fromBlock: 1, toBlock: head, count: 100, after: 5 });
    expect(result).toEqual(traces.filter(({ blockNumber }) => blockNumber > 0).slice(5, 105));
  });
});
