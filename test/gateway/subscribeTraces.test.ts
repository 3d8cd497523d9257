import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFloodgateClient, type LiveTrace, type Trace } from '../../src/exports/client/index.ts';
import { createTraffic, reorganise } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { remainingTraces } from './support/remainingTraces.ts';

/** One of the contracts that receive most of the traffic. */
const BUSY = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';
const POLL = ['--index-poll-interval-ms', '100', '--index-finality', 'none'];

let chain: SharedChain;
let floodgate: Floodgate;
let dataDir: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'floodgate-subscription-'));
  chain = await startSharedChain();
  floodgate = await startFloodgate({ upstream: chain.anvil.url, dataDir, args: POLL });
});
afterAll(async () => {
  await floodgate?.stop();
  await chain?.anvil.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

it('subscribeTraces delivers each trace once across reorganisations and a server restart', async () => {
  const { url } = chain.anvil;
  const traffic = await createTraffic({ url, seed: 3 });
  const client = createFloodgateClient({ url: floodgate.gatewayUrl, WebSocket });
  const reported: LiveTrace[] = [];
  const end = new AbortController();
  const isFinished = (async () => {
    const subscription = client.subscribeTraces(
      { address: BUSY, fromBlock: chain.head + 1 },
      { signal: end.signal },
    );
    for await (const trace of subscription) reported.push(trace);
  })().catch((error: unknown) => error);
  /** Returns the indexed history of the address. */
  const history = async (): Promise<Trace[]> => {
    const traces: Trace[] = [];
    for await (const page of client.addressTraces({ address: BUSY, order: 'asc', fromBlock: chain.head + 1 }))
      traces.push(...page.traces);
    return traces;
  };
  /** Waits until the block is indexed and the delivered traces equal the history. */
  const isCaughtUp = (blockHash: string | undefined) =>
    until('the complete history', async () => {
      const there = await history().catch(() => []);
      if (!there.some((trace) => trace.blockHash === blockHash)) return false;
      return JSON.stringify(remainingTraces(reported)) === JSON.stringify(there);
    });
  /** Mines until a block has traces of the address; blocks of random traffic may have none. */
  const mineBusy = async (): Promise<string> => {
    for (;;) {
      const [block] = await traffic.run({ steps: 1 });
      const traces = await until('the block to be indexed', () =>
        client.traceFilter({ fromBlock: block?.number, toBlock: block?.number }).catch(() => undefined),
      );
      const isBusy = traces.some(
        ({ action, type, blockHash }) => blockHash === block?.hash && type === 'call' && action.to === BUSY,
      );
      if (isBusy) return block?.hash ?? '';
    }
  };

  await traffic.run({ steps: 4 });
  await isCaughtUp(await mineBusy());
  const before = reported.length;
  expect(before).toBeGreaterThan(0);

  await reorganise({ url, depth: 3, seed: 4 });
  await isCaughtUp(await mineBusy());
  expect(reported.some(({ removed }) => removed)).toBe(true);

  const { port } = new URL(floodgate.url);
  await floodgate.stop();
  await reorganise({ url, depth: 2, seed: 5 });
  await traffic.run({ steps: 5 });
  floodgate = await startFloodgate({ upstream: url, dataDir, args: [...POLL, '--port', port] });
  await isCaughtUp(await mineBusy());

  end.abort(new Error('enough'));
  expect(await isFinished).toMatchObject({ message: 'enough' });
});
