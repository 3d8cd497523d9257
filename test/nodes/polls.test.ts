import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { type SpoiltNode, startSpoiltNode } from '../gateway/support/spoiltNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const INTERVAL_MS = 50;
const MIN_POLLS = 20;

describe('what nodes are asked while nothing happens', () => {
  let anvil: Anvil;
  const nodes: SpoiltNode[] = [];
  const bodies: string[][] = [[], []];

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: 18 })).run({ steps: 5 });
    for (const asked of bodies) {
      // A real node behind a proxy that counts what it is asked.
      const node = await startSpoiltNode(anvil.url);
      node.spoil = ({ body }, answer) => {
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
    'each of %i is asked for its heads once an interval, by relay and ingest together, and for nothing else',
    async (count) => {
      const upstream = nodes.slice(0, count).map(({ url }) => url);
      const floodgate = await startFloodgate({
        upstream,
        args: ['--index-poll-interval-ms', String(INTERVAL_MS)],
      });
      try {
        // It relays and indexes, and then has nothing to do.
        const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
        const { json: traces } = await call(floodgate.gatewayUrl, 'trace_filter', {
          fromBlock: '0x0',
          toBlock: json.result,
        });
        expect(traces.result.length).toBeGreaterThan(0);
        await pause(4 * INTERVAL_MS);
        const since = performance.now();
        for (const asked of bodies) asked.length = 0;
        await until('they were polled many times', async () =>
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
