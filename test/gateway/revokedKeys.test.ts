import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ApiKey, hashOfSecret } from '../../src/ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { send } from '../rules/support/call.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { type Floodgate, startFloodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { openWebSocket, type WebSocketClient } from './support/webSocketClient.ts';

/** An address without a node: these tests need none. */
const NO_NODE = 'http://127.0.0.1:9';
const CONFIG = { upstream: [NO_NODE] };
/** Enough connections for each worker to have some. */
const CONNECTIONS = 16;
/** Enough time to open a WebSocket on a busy machine. */
const EXPIRES_AFTER_MS = 5_000;

interface Key {
  readonly id: string;
  readonly value: string;
}

async function makeKey({ url }: Floodgate, more: object = {}): Promise<Key> {
  const request = { method: 'POST', path: '/gateway/keys', body: { name: 'one', ...more } };
  const { status, text, json } = await send({ baseUrl: `${url}/client/v4` }, request);
  expect(status, text).toBe(200);
  return json.result;
}

async function revoke({ url }: Floodgate, { id }: Key): Promise<void> {
  const request = { method: 'DELETE', path: `/gateway/keys/${id}` };
  expect((await send({ baseUrl: `${url}/client/v4` }, request)).status).toBe(200);
}

/** Waits until the server knows a key that another server created. */
const known = ({ gatewayUrl }: Floodgate, { value }: Key): Promise<boolean> =>
  until('the server to know the key', async () => {
    const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/json' };
    const body = '{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion"}';
    return (await fetch(gatewayUrl, { method: 'POST', headers, body })).status !== 401;
  });

async function subscribed({ gatewayUrl }: Floodgate, { value }: Key): Promise<WebSocketClient> {
  const client = await openWebSocket(`${gatewayUrl}?key=${value}`);
  onTestFinished(() => client.close());
  expect((await client.call('eth_subscribe', 'newHeads')).result).toMatch(/^0x/);
  return client;
}

async function manySubscribed(server: Floodgate, key: Key): Promise<WebSocketClient[]> {
  await known(server, key);
  return Promise.all(Array.from({ length: CONNECTIONS }, () => subscribed(server, key)));
}

async function expectClosed(clients: readonly WebSocketClient[]): Promise<void> {
  const closed = await Promise.all(clients.map((client) => client.closed));
  for (const one of closed) expect(one).toMatchObject({ code: 1008, reason: expect.stringContaining('key') });
}

describe.each([
  { name: 'one process', args: [] },
  { name: 'three workers', args: ['--role', 'gateway,ingest,rules', '--workers', '3'] },
])('a server of $name', ({ args }) => {
  let server: Floodgate;
  beforeAll(async () => {
    server = await startFloodgateProcess({ config: CONFIG, args, whenListening: true });
  });
  afterAll(() => server?.stop());

  it('closes only the WebSockets of a revoked key, with 1008', async () => {
    const [revoked, kept] = [await makeKey(server), await makeKey(server)];
    const clients = await manySubscribed(server, revoked);
    const others = await manySubscribed(server, kept);
    await revoke(server, revoked);
    await expectClosed(clients);
    for (const other of others) expect((await other.call('eth_unsubscribe', '0x1')).result).toBe(false);
  });

  it('closes the WebSockets of a key that expires', async () => {
    const expires_on = new Date(Date.now() + EXPIRES_AFTER_MS).toISOString();
    await expectClosed([await subscribed(server, await makeKey(server, { expires_on }))]);
  });

  it('closes a WebSocket with subscriptions that its key no longer allows, but not one without subscriptions', async () => {
    const key = await makeKey(server, { methods: ['eth_subscribe', 'eth_chainId'] });
    const client = await subscribed(server, key);
    const other = await openWebSocket(`${server.gatewayUrl}?key=${key.value}`);
    onTestFinished(() => other.close());
    const { keys, close } = openGatewayStorage(server.dataDir, 1024 * 1024);
    onTestFinished(close);
    const narrowed = keys
      .entries()
      .map((stored) =>
        stored.secretHash === hashOfSecret(key.value)
          ? { ...stored, key: { ...stored.key, methods: ['eth_chainId'] } }
          : stored,
      );
    await keys.replaceAll(narrowed);
    await expectClosed([client]);
    expect((await other.call('eth_subscribe', 'newHeads')).error.code).toBe(-32601);
  });
});

describe.skipIf(postgresFolder === undefined)(
  `two servers that share a PostgreSQL${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    let servers: Floodgate[];
    beforeAll(async () => {
      postgres = await Postgres.start();
      const store = ['--rules-store', postgres.url()];
      // The first server creates the tables.
      const alone = await startFloodgate({ config: CONFIG, args: store, whenListening: true });
      const workers = ['--role', 'gateway,ingest,rules', '--workers', '2', ...store];
      servers = [alone, await startFloodgateProcess({ config: CONFIG, args: workers, whenListening: true })];
    });
    afterAll(async () => {
      await Promise.all((servers ?? []).map((server) => server.stop()));
      await postgres?.remove();
    });

    it.each([
      { by: 'the first', index: 0 },
      { by: 'the second', index: 1 },
    ])('close all WebSockets of a key that $by server revoked, in every process', async ({ index }) => {
      const [first, second] = servers as [Floodgate, Floodgate]; // started in beforeAll
      const by = servers[index] ?? first;
      const key = await makeKey(by);
      const clients = [...(await manySubscribed(first, key)), ...(await manySubscribed(second, key))];
      await revoke(by, key);
      await expectClosed(clients);
    });

    it('close all WebSockets with subscriptions that a key no longer allows, in every process', async () => {
      const [first, second] = servers as [Floodgate, Floodgate]; // started in beforeAll
      const key = await makeKey(first);
      const clients = [...(await manySubscribed(first, key)), ...(await manySubscribed(second, key))];
      const storage = await openPostgresRules({ url: postgres.url() }, { log: QUIET });
      onTestFinished(() => storage.close());
      const narrow = (stored: unknown) => ({ ...(stored as ApiKey), methods: ['eth_chainId'] }); // as it was stored
      await storage.shared?.keys.change(hashOfSecret(key.value), narrow);
      await expectClosed(clients);
    });
  },
);
