import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const INTERVAL_MS = 50;
const MIN_POLLS = 20;

describe('an idle server', () => {
  let anvil: Anvil;
  const nodes: InterceptedNode[] = [];
  const bodies: string[][] = [[], []];

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: 18 })).run({ steps: 5 });
    for (const asked of bodies) {
      // A proxy of a real node that records the requests.
      const node = await startInterceptedNode(anvil.url);
      node.intercept = ({ body }, answer) => {
        asked.push(body);
        return answer();
      };
      nodes.push(node);
    }
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await anvil.stop();
  });

  test.each([1, 2])(
    'polls the heads of each of %i nodes once per interval and sends no other request',
    async (count) => {
      const upstream = nodes.slice(0, count).map(({ url }) => url);
      const floodgate = await startFloodgate({
        upstream,
        args: ['--index-poll-interval-ms', String(INTERVAL_MS)],
      });
      try {
        // After these calls the server is idle.
        const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
        const { json: traces } = await call(floodgate.gatewayUrl, 'trace_filter', {
          fromBlock: '0x0',
          toBlock: json.result,
        });
        expect(traces.result.length).toBeGreaterThan(0);
        await pause(4 * INTERVAL_MS);
        const since = performance.now();
        for (const asked of bodies) asked.length = 0;
        await until('20 polls of each node', async () =>
          bodies.slice(0, count).every((asked) => asked.length >= MIN_POLLS),
        );
        const intervals = (performance.now() - since) / INTERVAL_MS;
        for (const asked of bodies.slice(0, count)) {
          expect(asked.length).toBeLessThanOrEqual(intervals + 1);
          const polls = asked.filter((body) =>
            ['"latest"', '"safe"', '"finalized"'].every((tag) => body.includes(tag)),
          );
          expect(polls).toEqual(asked);
        }
      } finally {
        await floodgate.stop();
      }
    },
  );
});
