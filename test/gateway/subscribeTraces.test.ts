import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createTraffic, reorganise } from '../../src/devchain/index.ts';
import { createFloodgateClient, type LiveTrace, type Trace } from '../../src/library/client/index.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { standing } from './support/standing.ts';

/** One of the contracts that most of the traffic goes through. */
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

it('tells each trace once, over reorganisations and a server that was away meanwhile', async () => {
  const { url } = chain.anvil;
  const traffic = await createTraffic({ url, seed: 3 });
  const client = createFloodgateClient({ url: floodgate.gatewayUrl, WebSocket });
  const told: LiveTrace[] = [];
  const end = new AbortController();
  const isOver = (async () => {
    const subscription = client.subscribeTraces(
      { address: BUSY, fromBlock: chain.head + 1 },
      { signal: end.signal },
    );
    for await (const trace of subscription) told.push(trace);
  })().catch((error: unknown) => error);
  /** Everything that the index has of it by now. */
  const history = async (): Promise<Trace[]> => {
    const traces: Trace[] = [];
    for await (const page of client.addressTraces({ address: BUSY, order: 'asc', fromBlock: chain.head + 1 }))
      traces.push(...page.traces);
    return traces;
  };
  /** What was told comes to what there is, once that is of the block that was made last. */
  const isCaughtUp = (blockHash: string | undefined) =>
    until('all is told', async () => {
      const there = await history().catch(() => []);
      if (!there.some((trace) => trace.blockHash === blockHash)) return false;
      return JSON.stringify(standing(told)) === JSON.stringify(there);
    });
  /** Mines until a block has traces of the address, as a block of random traffic need not. */
  const mineBusy = async (): Promise<string> => {
    for (;;) {
      const [block] = await traffic.run({ steps: 1 });
      const traces = await until('it is indexed', () =>
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
  const before = told.length;
  expect(before).toBeGreaterThan(0);

  await reorganise({ url, depth: 3, seed: 4 });
  await isCaughtUp(await mineBusy());
  expect(told.some(({ removed }) => removed)).toBe(true);

  const { port } = new URL(floodgate.url);
  await floodgate.stop();
  await reorganise({ url, depth: 2, seed: 5 });
  await traffic.run({ steps: 5 });
  floodgate = await startFloodgate({ upstream: url, dataDir, args: [...POLL, '--port', port] });
  await isCaughtUp(await mineBusy());

  end.abort(new Error('enough'));
  expect(await isOver).toMatchObject({ message: 'enough' });
});
