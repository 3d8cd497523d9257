import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';

const RANGE_BLOCKS = 800;
/** Ranges that are not indexed at the start. The limit is two; each further one needs 40 seconds of refill. */
const RANGES = 4;
/** The newest blocks, which are not final. */
const NOT_FINAL = 64;

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil();
  const blocks = (RANGES + 1) * RANGE_BLOCKS + NOT_FINAL;
  await connect(anvil.url).call('anvil_mine', `0x${blocks.toString(16)}`);
});
afterAll(() => anvil?.stop());

describe.each([1, 2])(
  'the new blocks of a client of a server with %i processes for the gateway',
  (workers) => {
    let floodgate: Floodgate;

    beforeAll(async () => {
      floodgate = await startFloodgateProcess({
        upstream: anvil.url,
        args: [
          '--workers',
          String(workers),
          '--index-finality',
          'node',
          '--http-trusted-proxies',
          '127.0.0.1',
        ],
      });
    });
    afterAll(() => floodgate?.stop());

    const range = (n: number) => ({
      fromBlock: n * RANGE_BLOCKS + 1,
      toBlock: (n + 1) * RANGE_BLOCKS,
      count: 1,
    });

    it('are limited after two full ranges, also in a batch, and indexed blocks and other clients are not', async () => {
      for (const n of [0, 1])
        expect((await callTraceFilter(floodgate.gatewayUrl, range(n))).error).toBeUndefined();
      let rejected = -1;
      for (let n = 2; n < RANGES && rejected < 0; n++) {
        const { error } = await callTraceFilter(floodgate.gatewayUrl, range(n));
        if (error === undefined) continue;
        expect(error).toMatchObject({
          code: -32005,
          message: expect.stringMatching(/blocks of the range are not indexed yet.*try again in \d+ s$/),
          data: { limit: 1600, requested: RANGE_BLOCKS, retryAfterSeconds: expect.any(Number) },
        });
        rejected = n;
      }
      expect(rejected).toBeGreaterThanOrEqual(2);
      const calls = [range(0), range(rejected), range(1)].map((filter, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'trace_filter',
        params: [filter],
      }));
      const post = (body: unknown, client: string) =>
        fetch(floodgate.gatewayUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': client },
          body: JSON.stringify(body),
        });
      const single = await post(calls[1], '127.0.0.1');
      expect([single.status, Number(single.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
      const batch = (await (await post(calls, '127.0.0.1')).json()) as { error?: { code: number } }[];
      expect(batch.map(({ error }) => error?.code)).toEqual([undefined, -32005, undefined]);
      const other = (await (await post(calls[1], '203.0.113.7')).json()) as { error?: object };
      expect(other.error).toBeUndefined();
      const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
      expect(metrics).toMatch(/floodgate_gateway_limited_total\{limit="new_blocks"\} [1-9]/);
      expect(metrics).toMatch(/floodgate_index_on_demand_bytes\{network="mainnet"\} [1-9]/);
    });
  },
);
