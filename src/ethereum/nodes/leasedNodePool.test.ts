import { afterEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { LeasedNodeBudget, leaseFromNode } from './client/leasedNodeBudget.ts';
import { type Budget, BudgetExceededError, NodeBudget, NodeClient, NodeError, NodePool } from './index.ts';

const GENESIS = {
  number: '0x0',
  hash: `0x${'1'.repeat(64)}`,
  parentHash: `0x${'0'.repeat(64)}`,
  timestamp: '0x1',
  gasUsed: '0x0',
  somethingNew: true,
};
const SLOW_MS = 50;

/** A node that counts its calls and returns the same result to all of them. */
class CountedNode extends NodeClient {
  asked = 0;
  isSlow = false;
  isAway = false;
  /** Number of calls that still fail with a broken connection. */
  breaksOff = 0;

  override async batch(calls: Parameters<NodeClient['batch']>[0]): ReturnType<NodeClient['batch']> {
    if (this.isSlow) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    if (this.isAway) throw new NodeError('unreachable', 'away');
    return calls.map(([method]) => ({ result: method === 'eth_chainId' ? '0x1' : GENESIS }));
  }

  override relay(): ReturnType<NodeClient['relay']> {
    this.asked++;
    this.budget?.takeCalls(1);
    if (this.isAway || this.breaksOff-- > 0)
      return { body: Promise.reject(new NodeError('unreachable', 'away')), abort: () => undefined };
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
    return { body: Promise.resolve({ kind: 'whole', bytes, status: 200 }), abort: () => undefined };
  }
}

const pools: NodePool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.stop();
});

/** Node pools of several workers that share budgets; the last node is slow. */
async function workersOf(
  workers: number,
  { nodes, callsPerSecond, nodeWaitMs = 0 }: { nodes: number; callsPerSecond: number; nodeWaitMs?: number },
) {
  const budgets = Array.from({ length: nodes }, () => new NodeBudget({ callsPerSecond }));
  const clients: CountedNode[] = [];
  const ignored = () => undefined;
  const made = Array.from({ length: workers }, async () => {
    const own: CountedNode[] = [];
    const pool = new NodePool(
      {
        nodes: budgets.map(() => ({ url: 'http://127.0.0.1:1', callsPerSecond })),
        pollIntervalMs: 600_000,
        nodeWaitMs,
      },
      {
        observer: {
          answered: ignored,
          failed: ignored,
          sentInvalidResponse: ignored,
          hedged: ignored,
          healthChanged: ignored,
          traceMethodFound: ignored,
          inexactGas: ignored,
          headWentBack: ignored,
        },
        budgetOf: (limits, place) =>
          new LeasedNodeBudget(limits, async (wanted) => {
            await new Promise((resolve) => setTimeout(resolve, 1));
            return leaseFromNode(budgets[place] as Budget, wanted); // nodes and budgets have the same length
          }),
        connect({ url }, budget) {
          const client = new CountedNode(url, { budget });
          client.isSlow = nodes > 1 && own.length === nodes - 1;
          own.push(client);
          return client;
        },
      },
    );
    pools.push(pool);
    clients.push(...own);
    await pool.start();
    return {
      own,
      pool,
      ask: async (client = 'one') =>
        pool.ask({
          method: 'eth_chainId',
          body: '{}',
          bodyByHash: undefined,
          needsBlock: undefined,
          once: false,
          mayStream: false,
          timeoutMs: 5_000,
          maxBytes: 1_000,
          oversizeBlame: 'unclear',
          failedBefore: undefined,
          reservation: undefined,
          client: { address: client },
          classify: () => 'good',
        }),
    };
  });
  const all = await Promise.all(made);
  return { budgets, workers: all, asked: () => clients.reduce((sum, { asked }) => sum + asked, 0) };
}

it('the first call of a worker goes to the best node and leases calls of no other node', async () => {
  const { budgets, workers } = await workersOf(3, { nodes: 2, callsPerSecond: 100 });
  for (const { ask, own } of workers) {
    await ask();
    expect(own.map(({ asked }) => asked)).toEqual([1, 0]);
  }
  expect(budgets[1]?.callsLeft('retry')).toBe(100);
});

it('without a wait for budgets, calls within the budget are sent and all others rejected', async () => {
  const { workers, asked } = await workersOf(3, { nodes: 1, callsPerSecond: 100 });
  const startMs = performance.now();
  const settled = await Promise.allSettled(
    workers.flatMap(({ ask }) => Array.from({ length: 100 }, () => ask())),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  const refused = settled.filter(({ status }) => status === 'rejected');
  for (const one of refused)
    expect(one.status === 'rejected' && one.reason).toBeInstanceOf(BudgetExceededError);
  expect(asked()).toBe(settled.length - refused.length);
  expect(asked()).toBeGreaterThanOrEqual(70);
  expect(asked()).toBeLessThanOrEqual(80 + 100 * seconds);
});

it('with a wait for budgets, all calls are sent eventually and a flood does not delay another client', async () => {
  const { workers, asked } = await workersOf(2, { nodes: 1, callsPerSecond: 200, nodeWaitMs: 60_000 });
  const startMs = performance.now();
  let flooded = 0;
  const flood = workers.flatMap(({ ask }) =>
    Array.from({ length: 300 }, () => ask('flood').then(() => flooded++)),
  );
  await Promise.all(workers.map(({ ask }) => ask('quiet')));
  expect(flooded).toBeLessThan(600);
  await Promise.all(flood);
  const seconds = (performance.now() - startMs) / 1_000;
  expect(asked()).toBe(602);
  expect(asked()).toBeLessThanOrEqual(160 + 200 * seconds);
});

it('calls that waited for a node to recover lease again', async () => {
  const [worker] = (await workersOf(1, { nodes: 1, callsPerSecond: 100, nodeWaitMs: 60_000 })).workers;
  const [node, client] = [worker?.pool.nodes[0], worker?.own[0]];
  if (worker === undefined || node === undefined || client === undefined) throw new Error('there is one');
  client.isAway = true;
  while (node.health === 'healthy') await worker.pool.refresh(node);
  const waiting = Array.from({ length: 20 }, () => worker.ask());
  await until('all were sent in vain', () => client.asked >= waiting.length);
  client.isAway = false;
  await worker.pool.refresh(node);
  expect(await Promise.all(waiting)).toHaveLength(20);
});

it('a call on a connection that was just closed is retried without another lease', async () => {
  const [worker] = (await workersOf(1, { nodes: 1, callsPerSecond: 5 })).workers;
  const client = worker?.own[0];
  if (client === undefined) throw new Error('there is one');
  client.breaksOff = 1;
  expect(await worker?.ask()).toBeDefined();
  expect(client.asked).toBe(2);
});
