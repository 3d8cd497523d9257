import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendIdenticalTraffic } from '../nodes/sameTraffic.ts';
import { connect, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { gethBinary, NO_GETH, startGeth } from '../support/geth.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { ANNA } from '../support/traffic/cast.ts';
import { CLIENTS, has, hasClient, hasPython, NO_CLIENTS, run } from './support/clients.ts';

interface Trace {
  readonly transactionHash: string;
  readonly traceAddress: readonly number[];
  readonly type: string;
  readonly action: { readonly to?: string; readonly refundAddress?: string };
  readonly result?: { readonly address?: string } | null;
}

/** What a node's chain contains, read without a tool. */
interface Chain {
  readonly head: number;
  readonly transactions: number;
  readonly failed: number;
  readonly logs: number;
  /** The traces of each block. */
  readonly blocks: readonly (readonly Trace[])[];
}

const idOf = ({ transactionHash, traceAddress, type }: Trace): string[] => [
  transactionHash,
  traceAddress.join('.'),
  type,
];

/** The address that `toAddress` of trace_filter matches: the recipient, the created contract, or a refund's address. */
const recipientOf = ({ action, result }: Trace): string | undefined =>
  action.to ?? action.refundAddress ?? result?.address;

async function readChain(url: string): Promise<Chain> {
  const gateway = connect(url);
  const head = Number(await gateway.call('eth_blockNumber'));
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
  const inEach = <T>(method: string): Promise<T[]> =>
    Promise.all(numbers.map((number) => gateway.call<T>(method, number)));
  const receipts = (await inEach<{ status: string; logs: unknown[] }[]>('eth_getBlockReceipts')).flat();
  return {
    head,
    transactions: receipts.length,
    failed: receipts.filter(({ status }) => status === '0x0').length,
    logs: receipts.flatMap(({ logs }) => logs).length,
    blocks: await inEach<Trace[]>('trace_block'),
  };
}

const geth = gethBinary();

/** Starts a node with a chain that has every shape of trace. Returns its URL. */
async function startNode(name: string, stops: (() => Promise<unknown>)[]): Promise<string> {
  const anvil = await startAnvil();
  stops.push(anvil.stop);
  if (name === 'anvil') {
    await (await createTraffic({ url: anvil.url, seed: 1 })).run({ steps: SCRIPT_BLOCKS });
    return anvil.url;
  }
  const node = await startGeth(geth ?? '');
  stops.push(node.stop);
  await sendIdenticalTraffic({ anvil, geth: node, seed: 1, steps: SCRIPT_BLOCKS });
  return node.url;
}

describe('tools that read traces from anvil, with their defaults', () => testTools('anvil'));

describe.skipIf(geth === undefined)(
  `tools that read traces from geth, with their defaults${geth ? '' : ` (${NO_GETH})`}`,
  () => testTools('geth'),
);

function testTools(name: string): void {
  const stops: (() => Promise<unknown>)[] = [];
  let floodgate: Floodgate;
  let chain: Chain;

  beforeAll(async () => {
    const upstream = await startNode(name, stops);
    floodgate = await startFloodgate({ upstream, args: ['--index-poll-interval-ms', '50'] });
    chain = await readChain(floodgate.gatewayUrl);
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all(stops.map((stop) => stop()));
  });

  it('Subsquid reads all transactions, logs and traces with trace_block', async (context) => {
    if (!hasClient('@subsquid/evm-processor')) context.skip(NO_CLIENTS);
    const args = [`${CLIENTS}subsquid.js`, floodgate.gatewayUrl, String(chain.head), 'trace'];
    const { traces, ...counts } = JSON.parse((await run('node', args)).stdout);
    const { transactions, failed, logs } = chain;
    expect(counts).toEqual({ blocks: chain.head + 1, transactions, failed, logs });
    expect(traces).toEqual(chain.blocks.flat().map(idOf));
  });

  it('safe-eth-py reads traces as the indexer of the Safe Transaction Service does', async (context) => {
    if (!hasPython('safe_eth')) context.skip('safe-eth-py is not installed; run `pip install safe-eth-py`');
    const found = chain.blocks.flat().filter((trace) => recipientOf(trace) === ANNA);
    const hashes = new Set(found.map(({ transactionHash }) => transactionHash));
    const transactions = [...hashes].map((hash) =>
      chain.blocks.flat().filter(({ transactionHash }) => transactionHash === hash),
    );
    const args = [`${CLIENTS}safeEthPy.py`, floodgate.gatewayUrl, String(chain.head), ANNA];
    const { succeeded, ...seen } = JSON.parse((await run('python3', args)).stdout);
    expect(succeeded).toBeGreaterThan(0);
    expect(seen).toEqual({
      chainId: 31337,
      found: found.map(idOf),
      paged: found.map(idOf),
      transactions: transactions.map((traces) => traces.map(idOf)),
      single: transactions.slice(0, 1).map((traces) => traces.map(idOf)),
      blocks: chain.blocks
        .slice(1)
        .slice(-10)
        .map((traces) => traces.map(idOf)),
      receipts: transactions.length,
    });
  });

  it('ethereum-etl exports all traces', async (context) => {
    if (!has('ethereumetl', ['--help']))
      context.skip('ethereum-etl is not installed; see docs/guides/clients.md#ethereum-etl');
    const range = ['--start-block', '0', '--end-block', String(chain.head)];
    const args = ['export_traces', ...range, '--provider-uri', floodgate.gatewayUrl, '--output', '-'];
    const rows = (await run('ethereumetl', args)).stdout.trim().split('\n').slice(1);
    expect(rows.length).toBe(chain.blocks.flat().length);
  });
}
