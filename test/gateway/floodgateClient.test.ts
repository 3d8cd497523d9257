import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { createPublicClient, http, InvalidParamsRpcError } from 'viem';
import { foundry } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createFloodgateClient,
  floodgateActions,
  type Hex,
  type Trace,
  type TraceFilterPagesParams,
} from '../../src/exports/client/index.ts';
import { ACCOUNTS } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { call } from './support/send.ts';

const SENDER = ACCOUNTS[9]?.address as string as Hex; // sender of all scripted transactions

let chain: SharedChain;
let floodgate: Floodgate;
beforeAll(async () => {
  chain = await startSharedChain();
  floodgate = await startFloodgate({ upstream: chain.anvil.url });
});
afterAll(async () => {
  await floodgate?.stop();
  await chain?.anvil.stop();
});

const asked = async (method: string, params: object) =>
  (await call(floodgate.gatewayUrl, method, params)).json.result;

describe('floodgate/client', () => {
  it('returns the results of the gateway', async () => {
    const client = createFloodgateClient({ url: floodgate.gatewayUrl });
    const filter = { fromBlock: 1, toBlock: 'latest', fromAddress: SENDER, count: 5 } as const;
    expect(await client.traceFilter(filter)).toEqual(await asked('trace_filter', filter));
    expect(await client.traceFilter()).toEqual(await asked('trace_filter', {}));
    const summary = await client.addressSummary({ address: SENDER });
    expect(summary).toEqual(await asked('floodgate_addressSummary', { address: SENDER }));
    expect(summary.counts.from.call).toBeGreaterThan(0);
  });

  it('iterates over all pages of a history', async () => {
    const client = createFloodgateClient({ url: floodgate.gatewayUrl });
    const question = { address: SENDER, order: 'asc', types: ['call', 'create'] } as const;
    const traces = [];
    let pages = 0;
    for await (const page of client.addressTraces({ ...question, limit: 7n })) {
      traces.push(...page.traces);
      pages++;
    }
    expect(pages).toBeGreaterThan(2);
    expect(traces).toEqual((await asked('floodgate_addressTraces', { ...question, limit: 200 })).traces);
  });

  it('returns all matches of a filter in pages from traceFilterPages', async () => {
    const client = createFloodgateClient({ url: floodgate.gatewayUrl });
    const filter = { fromBlock: 1, toBlock: 8, fromAddress: SENDER };
    const all = await asked('trace_filter', filter);
    expect(all.length).toBeGreaterThan(10);
    const allPages = async (params: TraceFilterPagesParams): Promise<unknown[]> => {
      const pages = [];
      for await (const page of client.traceFilterPages(params)) pages.push(page);
      return pages;
    };
    const pagesOf = (params: object): Promise<unknown[]> => allPages({ ...filter, ...params });
    expect(await pagesOf({})).toEqual([all]);
    const [first, second, ...others] = [all.slice(3, 7), all.slice(7, 11), all.slice(11)];
    const pages = await pagesOf({ fromBlock: 1n, after: '0x3', count: 4n });
    expect(pages.slice(0, 2)).toEqual([first, second]);
    expect(pages.slice(2).flat()).toEqual(others.flat());
    // The last page is full.
    expect(await pagesOf({ count: all.length })).toEqual([all]);
    expect(await pagesOf({ after: all.length })).toEqual([]);
    expect(await pagesOf({ count: 0 })).toEqual([]);
    const [trace] = all;
    const ofBlock = all.filter(({ blockHash }: Trace) => blockHash === trace.blockHash);
    const { blockHash } = trace;
    expect((await allPages({ blockHash, fromAddress: SENDER, count: 2 })).flat()).toEqual(ofBlock);
  });

  it('throws errors with code and data', async () => {
    const client = createFloodgateClient({ url: floodgate.gatewayUrl });
    await expect(client.traceFilter({ fromBlock: 0, toBlock: 800 })).rejects.toMatchObject({
      name: 'FloodgateRpcError',
      code: -32005,
      data: { limit: 800, requested: 801 },
    });
    const elsewhere = createFloodgateClient({ url: `${floodgate.url}/healthz` });
    await expect(elsewhere.traceFilter()).rejects.toMatchObject({ name: 'FloodgateHttpError' });
  });

  it('extends a viem client, with the error classes of viem', async () => {
    const client = createPublicClient({
      chain: foundry,
      transport: http(floodgate.gatewayUrl, { retryCount: 0 }),
    }).extend(floodgateActions);
    const filter = { fromBlock: 1n, toBlock: 8n, toAddress: [SENDER], count: 5 } as const;
    expect(await client.traceFilter(filter)).toEqual(
      await asked('trace_filter', { ...filter, fromBlock: 1, toBlock: 8 }),
    );
    const { value: page } = await client.addressTraces({ address: SENDER, minValue: 1n }).next();
    expect(page?.traces.length).toBeGreaterThan(0);
    expect(await client.getChainId()).toBe(31337);
    const wrong = client.addressSummary({ address: '0x12' }).catch((error: unknown) => error);
    expect(await wrong).toBeInstanceOf(InvalidParamsRpcError);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.addressTraces({ address: SENDER }, { signal }).next()).rejects.toThrow();
  });

  it('can be bundled for browsers and runs with browser globals only', async () => {
    const bundle = await rolldown({
      input: fileURLToPath(new URL('../../dist/exports/client.js', import.meta.url)),
      platform: 'browser',
      logLevel: 'silent',
    });
    const { output } = await bundle.generate({ format: 'iife', name: 'floodgate' });
    await bundle.close();
    expect(output.map((chunk) => chunk.type === 'chunk' && chunk.imports)).toEqual([[]]);
    const page = createContext({ fetch, AbortSignal, setTimeout, clearTimeout });
    runInContext(output[0].code, page);
    const script = `floodgate.createFloodgateClient({ url: ${JSON.stringify(floodgate.gatewayUrl)} }).traceFilter({ count: 1 })`;
    expect(await runInContext(script, page)).toEqual(await asked('trace_filter', { count: 1 }));
  });
});
