import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../support/random.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const REQUESTS = 120;
const SEEDS = [1, 2, 3, 4, 5, 6];
/** The server closes a connection after 32 rejected requests in a row. */
const SUCCESS_EVERY = 20;

const call = (method: string, more: object = { id: 1 }): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params: [], ...more });

const SUCCESS = call('eth_chainId');
const REJECTED = [
  call('eth_accounts'),
  call('eth_coinbase', { id: 'x' }),
  call('debug_y', { id: 'naïve ☂' }),
  call('no\u0000"name"', { id: null }),
  call('', { id: 7 }),
  call('long'.repeat(50)),
  ` ${call('spaced', { id: 3 })}\n`,
  call('notified', { id: undefined }),
  call('eth_large', { id: 5, params: ['0x'.padEnd(1_500, '0')] }),
  call('net_peerCount').padEnd(8_000),
];
const OTHERS = [
  SUCCESS,
  call('eth_chainId', { method: 'rpc.discover', id: 4 }).slice(0, -1),
  call('eth_chainId', { id: 'y' }),
  `[${call('eth_accounts')}]`,
  `[${call('eth_accounts')},${call('eth_chainId', { id: 2 })}]`,
  call('eth_accounts', { id: 1.5 }),
  call('eth_accounts', { jsonrpc: '1.0' }),
  '{"jsonrpc":"2.0","id":1,"method":"eth_accounts","method":"eth_chainId"}',
  'null',
  '\xff\xfe',
];
const HEADS = [
  ['POST /v1/mainnet HTTP/1.1', 'host: localhost', 'content-type: application/json'],
  [
    'POST /v1/mainnet HTTP/1.1',
    'host: localhost',
    'origin: https://example.com',
    'Content-Type: application/json',
  ],
  ['POST /v1/mainnet?key=none HTTP/1.1', 'Host: localhost', 'content-type: application/json; charset=utf-8'],
  ['POST /v1/nowhere HTTP/1.1', 'host: localhost', 'content-type: application/json'],
  ['POST /v1/mainnet HTTP/1.1', 'host: localhost', 'content-type: text/plain'],
];

const request = (head: readonly string[], body: string): Buffer => {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\ncontent-length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]);
};

/** Returns mostly rejected requests, in runs with the same header section, mixed with other requests. */
function sequence(random: Random): Buffer[] {
  const [firstHead = []] = HEADS;
  let [head, body] = [random.pick(HEADS), random.pick(REJECTED)];
  return Array.from({ length: REQUESTS }, (_, i) => {
    if (i % SUCCESS_EVERY === 0) return request(firstHead, SUCCESS);
    if (random.chance(0.05)) head = random.pick(HEADS);
    if (random.chance(0.2)) body = random.pick(REJECTED);
    return request(head, random.chance(0.1) ? random.pick(OTHERS) : body);
  });
}

/** Splits a byte stream into responses, in order, without their Date headers. */
function answersIn(text: string): string[] {
  const answers: string[] = [];
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end === -1) return answers;
    const head = text.slice(at, end);
    const next = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (next > text.length) return answers;
    answers.push(head.replace(/\r\nDate: [^\r]+/, '') + text.slice(end, next));
    at = next;
  }
}

describe('pipelined requests', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  const alone = new Map<string, string>();

  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
    // After the first call the chain id is cached, which changes the `X-Floodgate-Cache` header.
    await answerOf(request(HEADS[0] ?? [], SUCCESS));
    alone.clear();
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  /** Returns `count` responses to the requests that `write` sends over one connection. */
  async function answered(count: number, write: (socket: Socket) => void): Promise<string[]> {
    const { hostname, port } = new URL(floodgate.url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let text = '';
    socket.setEncoding('latin1').on('data', (more) => {
      text += more;
    });
    write(socket);
    try {
      return await until('all responses', () => {
        const answers = answersIn(text);
        return answers.length >= count && answers;
      });
    } finally {
      socket.destroy();
    }
  }

  async function answerOf(bytes: Buffer): Promise<string> {
    const key = bytes.toString('latin1');
    const known = alone.get(key) ?? (await answered(1, (socket) => socket.write(bytes)))[0] ?? '';
    alone.set(key, known);
    return known;
  }

  it.each(SEEDS)('get the same responses as on separate connections (seed %i)', async (seed) => {
    const random = new Random(seed);
    const requests = sequence(random);
    const expected: string[] = [];
    for (const bytes of requests) expected.push(await answerOf(bytes));
    const bytes = Buffer.concat(requests);
    const answers = await answered(requests.length, async (socket) => {
      const pieceBytes = seed % 2 === 0 ? 1_000 : 20_000;
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + random.below(pieceBytes);
        socket.write(bytes.subarray(at, end));
        at = end;
        // Consecutive writes arrive separately or together.
        if (random.chance(0.7)) await new Promise((resolve) => setImmediate(resolve));
      }
    });
    expect(answers).toEqual(expected);
  });
});
