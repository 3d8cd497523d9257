import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess, TOKEN } from '../support/startFloodgate.ts';

const WARM_UP = 8_000;
const REQUESTS = 2_000;
const CONNECTIONS = 8;
/** Before the faults were corrected, each request left at least 2,000 bytes, and each connection 10,000. */
const MAX_BYTES = 500;
/** Some Maps and Sets change with each batch or connection. Their old tables survive, but no large objects. */
const MAX_TABLE_BYTES = 3_000;
/** Compiled code and caches are old, too, so some measurements may be larger. */
const MAX_MEASUREMENTS = 5;

let chain: SharedChain;
let floodgate: FloodgateProcess;
beforeAll(async () => {
  chain = await startSharedChain();
  const upstream = chain.anvil.url;
  floodgate = await startFloodgateProcess({ upstream });
});
afterAll(async () => {
  await floodgate?.stop();
  chain?.anvil.stop();
});

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const gateway = { path: '/v1/mainnet', method: 'POST' };
const rules = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';

/** V8 moves objects that survive two collections of new objects to the old generation. */
it.each<[string, Sent]>([
  ['calls', { ...gateway, body: call('eth_chainId') }],
  ['batches', { ...gateway, body: [call('eth_chainId'), call('net_version')], maxBytes: MAX_TABLE_BYTES }],
  ['calls of a node', { ...gateway, body: call('eth_getBalance', `0x${'12'.repeat(20)}`, '0x0') }],
  [
    'calls on new connections',
    { ...gateway, body: call('eth_chainId'), isLast: true, maxBytes: MAX_TABLE_BYTES },
  ],
  ['rejected calls', { ...gateway, body: call('eth_accounts') }],
  ['lists of rules', { path: rules, method: 'GET', authorization: `Bearer ${TOKEN}` }],
])('no objects of finished requests survive: %s', async (_, sent) => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  onTestFinished(() => agent.destroy());
  const send = (requests: number) => sendAll(agent, requests, sent);
  await send(WARM_UP);
  const { maxBytes = MAX_BYTES } = sent;
  const measured: { readonly isWhole: boolean; readonly bytesPerRequest: number }[] = [];
  const isBelow = () =>
    measured.some(({ isWhole, bytesPerRequest }) => isWhole && bytesPerRequest < maxBytes);
  while (measured.length < MAX_MEASUREMENTS && !isBelow()) {
    const before = await heap();
    await send(REQUESTS);
    const after = await heap();
    const bytesPerRequest = (after.oldBytes - before.oldBytes) / REQUESTS;
    // A full garbage collection removes the objects of finished requests.
    measured.push({ isWhole: after.fullCollections === before.fullCollections, bytesPerRequest });
  }
  expect(measured).toSatisfy(isBelow);
});

interface Sent {
  readonly path: string;
  readonly method: string;
  readonly body?: unknown;
  readonly authorization?: string;
  /** Whether each request is the last one of its connection. */
  readonly isLast?: boolean;
  readonly maxBytes?: number;
}

async function sendAll(agent: Agent, requests: number, what: Sent): Promise<void> {
  const { path, method, body, authorization, isLast = false } = what;
  const { hostname: host, port } = new URL(floodgate.url);
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(authorization !== undefined && { authorization }),
  };
  let left = requests;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const sent = request({ host, port, path, method, headers, agent: isLast ? false : agent });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
      const [response] = await once(sent, 'response');
      await text(response);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
}

/** Returns the used bytes of the old generation of the server's heap, and the number of its full collections. */
async function heap(): Promise<{ readonly oldBytes: number; readonly fullCollections: number }> {
  const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
  const valueIn = (series: string): number =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1] ?? 0,
    );
  return {
    oldBytes: valueIn('nodejs_heap_space_size_used_bytes{space="old"}'),
    fullCollections: valueIn('nodejs_gc_duration_seconds_count{kind="major"}'),
  };
}
