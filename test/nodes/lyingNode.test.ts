import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

type Json = Record<string, unknown>;

/** Falsifications of a block's traces, by name. */
const LIES: Record<string, (traces: Json[]) => unknown> = {
  'of another block': (traces) => traces.map((trace) => ({ ...trace, blockHash: `0x${'bad0'.repeat(16)}` })),
  'without one of the transactions': (traces) =>
    traces.filter(({ transactionPosition }) => transactionPosition !== 0),
  'with one subtrace too many': (traces) =>
    traces.map((trace) => ({ ...trace, subtraces: Number(trace['subtraces']) + 1 })),
};

describe('a node that returns false traces', () => {
  let anvil: Anvil;
  let liar: InterceptedNode;
  let floodgate: Floodgate | undefined;
  let truth: unknown[];

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: 9 });
    await traffic.run({ steps: 30 });
    floodgate = await startFloodgate({ upstream: anvil.url });
    truth = await tracesOf(floodgate);
    await floodgate.stop();
    // A proxy of a real anvil that falsifies its results.
    liar = await startInterceptedNode(anvil.url);
  });
  afterAll(() => Promise.all([floodgate?.stop(), liar.stop(), anvil.stop()]));

  test.each(Object.keys(LIES))(
    'is replaced by another node, with the reason in the log (traces %s)',
    async (lie) => {
      liar.intercept = async ({ methods }, answer) => {
        const text = await answer();
        if (!methods.includes('trace_block')) return text;
        const answers = [JSON.parse(text)].flat() as Json[];
        const falsify = LIES[lie] ?? String;
        const spoilt = answers.map((entry) =>
          Array.isArray(entry['result']) ? { ...entry, result: falsify(entry['result']) } : entry,
        );
        return JSON.stringify(methods.length === 1 ? spoilt[0] : spoilt);
      };
      floodgate = await startFloodgate({ upstream: [liar.url, anvil.url] });
      const served = await tracesOf(floodgate);
      const log = floodgate.output();
      await floodgate.stop();
      floodgate = undefined;
      expect(served).toEqual(truth);
      expect(served.length).toBe(200);
      expect(log).toMatch(/"what":"block \d+","reason":"(nonsense|refused)".*retrying with other nodes/);
    },
  );
});

async function tracesOf({ gatewayUrl }: Floodgate): Promise<unknown[]> {
  const { json } = await call(gatewayUrl, 'trace_filter', {
    fromBlock: '0x0',
    toBlock: 'latest',
    count: 200,
  });
  return json.result;
}
