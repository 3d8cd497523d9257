import { afterEach, expect, test } from 'vitest';
import { type Anvil, connect, DEMO_BLOCKS, mineDemoBlock, type Node, startAnvil } from '../support/anvil.ts';

/** The members of a trace that the tests read. */
interface Trace {
  readonly type: string;
  readonly action: { readonly callType?: string; readonly to?: string };
  readonly result?: { readonly address?: string };
  readonly error?: string;
}

/** Includes blocks mined after the chain is served: they have other senders than the first `DEMO_BLOCKS`. */
const BLOCKS = DEMO_BLOCKS + 6;

const anvils: Anvil[] = [];
afterEach(async () => {
  await Promise.all(anvils.splice(0).map((anvil) => anvil.stop()));
});

async function startNode(): Promise<Node> {
  const anvil = await startAnvil();
  anvils.push(anvil);
  return connect(anvil.url);
}

const tracesOf = (node: Node, number: number) =>
  node.call<Trace[]>('trace_block', `0x${number.toString(16)}`);

async function transactionsOf(node: Node, number: number): Promise<string[]> {
  const hex = `0x${number.toString(16)}`;
  return (await node.call<{ transactions: string[] }>('eth_getBlockByNumber', hex, false)).transactions;
}

test('the demo traffic uses three contracts and contains calls, creations, selfdestructs and failures', async () => {
  const node = await startNode();
  const traces: Trace[] = [];
  for (let number = 1; number <= BLOCKS; number++) {
    expect(await mineDemoBlock(node)).toBe(number);
    traces.push(...(await tracesOf(node, number)));
  }
  const distinct = (read: (trace: Trace) => string | undefined) =>
    [...new Set(traces.flatMap((trace) => read(trace) ?? []))].sort();
  expect(distinct(({ type }) => type)).toEqual(['call', 'create', 'suicide']);
  expect(distinct(({ action }) => action.callType)).toEqual(['call', 'delegatecall']);
  expect(distinct(({ error }) => error)).toEqual([
    'Bad instruction',
    'Built-in failed',
    'Out of gas',
    'Reverted',
  ]);

  const created = traces.flatMap(({ type, result }) => (type === 'create' ? (result?.address ?? []) : []));
  for (const contract of created.slice(0, 3))
    expect(traces.filter(({ action }) => action.to === contract).length).toBeGreaterThan(5);
});

test('the transactions of a demo block and their order depend only on its height', async () => {
  const nodes = [await startNode(), await startNode()];
  const blocks = await Promise.all(
    nodes.map(async (node) => {
      const transactions: string[][] = [];
      for (let number = 1; number <= BLOCKS; number++) {
        await mineDemoBlock(node);
        transactions.push(await transactionsOf(node, number));
      }
      return transactions;
    }),
  );
  expect(blocks[1]).toEqual(blocks[0]);
  for (const transactions of blocks[0] ?? []) expect(transactions.length).toBeGreaterThan(2);
});

test('the demo traffic continues after a block mined by the user', async () => {
  const node = await startNode();
  for (let done = 0; done < DEMO_BLOCKS; done++) await mineDemoBlock(node);
  const [from, to] = await node.call<string[]>('eth_accounts');
  await node.call('eth_sendTransaction', { from, to, value: '0x1' });
  await node.call('evm_mine');
  const next = await mineDemoBlock(node);
  expect(next).toBe(DEMO_BLOCKS + 2);
  expect((await transactionsOf(node, next)).length).toBeGreaterThan(2);
});
