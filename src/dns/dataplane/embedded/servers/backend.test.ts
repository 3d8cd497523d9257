import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HANG_MS } from '../../../../../test/support/hang.ts';
import {
  HEADER_BYTES,
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  readQuery,
} from '../../../protocol/index.ts';
import { PacketFaults, ResponseTimes } from '../../index.ts';
import { Backend } from './backend.ts';
import { probeOf } from './probe.ts';
import { ListenAddresses } from './proxyHeader.ts';

const KEY = { high: 1, low: 2 };
const CLIENT = { address: '192.0.2.1', port: 5353 };
const FORMERR = 1;
const SERVFAIL = 2;
const TIMEOUT_MS = 2000;

/** Number of open UDP sockets of this process. */
const udpSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'UDPWrap').length;

let socketsBefore: number;
let server: Socket;
let backend: Backend;
let received: { readonly query: Buffer; readonly from: RemoteInfo }[];
let answers: { readonly ticket: number; readonly end: number; readonly labels: number }[];
let retried: number[];
let unanswered: number[];
const faults: string[] = [];

beforeEach(async () => {
  socketsBefore = udpSockets();
  [received, answers, retried, unanswered] = [[], [], [], []];
  server = createSocket('udp4');
  server.on('message', (query, from) => received.push({ query: Buffer.from(query), from }));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  backend = new Backend(
    { host: '127.0.0.1', port: server.address().port },
    { timeoutMs: TIMEOUT_MS, key: KEY, probe: probeOf(undefined, KEY) },
    {
      onAnswer: (_, { question: { end, labels } }, ticket) => answers.push({ ticket, end, labels }),
      retryElsewhere: (_, ticket) => retried.push(ticket) < 0,
      listenAddresses: new ListenAddresses(),
      onUnanswered: (userZone) => unanswered.push(userZone),
      responseTimes: new ResponseTimes(),
      onNoServer: () => true,
      faults: new PacketFaults((fault) => faults.push(fault)),
    },
  );
  await backend.opened();
});
afterEach(async () => {
  backend.close();
  const closed = once(server, 'close');
  server.close();
  await closed;
  // The sockets that `close` leaves open would keep receiving. Closing takes an iteration of the event loop.
  await expect.poll(udpSockets, { timeout: HANG_MS }).toBe(socketsBefore);
  expect(faults).toEqual([]);
});

/** Forwards a query for a name, and returns it as the server received it. */
async function forwarded(name: string, userZone = 0) {
  const packet = Buffer.from(queryPacket(nameToWire(name), QueryType.A));
  const question = new Question();
  readQuery(packet, KEY, question);
  const before = received.length;
  expect(backend.forward(packet, question, CLIENT, 0, Date.now(), userZone)).toBe(true);
  await expect.poll(() => received.length, { timeout: HANG_MS }).toBe(before + 1);
  const last = received.at(-1);
  if (last === undefined) throw new Error('the server received nothing');
  return { ...last, end: question.end, ticket: backend.inFlight.next - 1 };
}

/** Returns an answer to a query: header and, unless `isBare`, its question. */
function answerTo(query: Buffer, { rcode = 0, isBare = false } = {}): Buffer {
  const answer = Buffer.from(isBare ? query.subarray(0, HEADER_BYTES) : query);
  answer[2] = 0x80 | (answer[2] ?? 0);
  answer[3] = rcode;
  if (isBare) answer.fill(0, 4, HEADER_BYTES);
  return answer;
}

const reply = (answer: Buffer, { port, address }: RemoteInfo): void => server.send(answer, port, address);
const seen = (count: number) =>
  expect.poll(() => answers.length + backend.mismatched, { timeout: HANG_MS }).toBe(count);

describe('an answer', () => {
  it('with the question of its query is delivered once', async () => {
    const { query, from, end, ticket } = await forwarded('www.example.test');
    reply(answerTo(query), from);
    await seen(1);
    reply(answerTo(query), from);
    await seen(2);
    expect(answers).toEqual([{ ticket, end, labels: 3 }]);
    expect([backend.answered, backend.mismatched, backend.inFlight.waiting]).toEqual([1, 1, 0]);
  });

  it('that is an error without a question ends after its header, and has no name to learn', async () => {
    const { query, from, ticket } = await forwarded('www.example.test');
    reply(answerTo(query, { rcode: FORMERR, isBare: true }), from);
    await seen(1);
    expect(answers).toEqual([{ ticket, end: HEADER_BYTES, labels: 0 }]);
  });

  it('without a question is not accepted unless it is an error, nor one to another question or ID', async () => {
    const { query, from } = await forwarded('www.example.test');
    const other = Buffer.from(queryPacket(nameToWire('other.example.test'), QueryType.A));
    query.copy(other, 0, 0, 2);
    const otherId = answerTo(query);
    otherId.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff);
    const wrong = [
      answerTo(query, { isBare: true }),
      answerTo(other),
      otherId,
      query,
      answerTo(query).subarray(0, 11),
    ];
    for (const answer of wrong) reply(answer, from);
    await seen(wrong.length);
    expect([answers, backend.mismatched, backend.inFlight.waiting]).toEqual([[], wrong.length, 1]);
  });

  it('on the port of another query is not accepted', async () => {
    const [first, second] = [await forwarded('a.test'), await forwarded('b.test')];
    expect(first.from.port).not.toBe(second.from.port);
    reply(answerTo(first.query), second.from);
    await seen(1);
    expect([answers, backend.mismatched]).toEqual([[], 1]);
  });

  it('that is SERVFAIL is delivered if no other server can be tried', async () => {
    const { query, from, ticket } = await forwarded('www.example.test');
    reply(answerTo(query, { rcode: SERVFAIL }), from);
    await seen(1);
    expect([retried, answers.map((answer) => answer.ticket)]).toEqual([[ticket], [ticket]]);
  });
});

it('a query without an answer expires after the timeout, and its user counts as unanswered', async () => {
  await forwarded('www.example.test', 7);
  backend.tick(Date.now() + TIMEOUT_MS - 1000);
  expect([backend.timedOut, unanswered]).toEqual([0, []]);
  backend.tick(Date.now() + TIMEOUT_MS + 1000);
  expect([backend.timedOut, unanswered, backend.inFlight.waiting]).toEqual([1, [7], 0]);
});

it('a health probe without an answer is not counted as a query that timed out', async () => {
  backend.probe(Date.now());
  backend.tick(Date.now() + TIMEOUT_MS + 1000);
  expect([backend.timedOut, backend.inFlight.waiting]).toEqual([0, 0]);
});

it('after close, no socket to the server is open, also none that was replaced', async () => {
  const others = udpSockets();
  const closing = new Backend(
    backend.address,
    { timeoutMs: 600_000, key: KEY, probe: probeOf(undefined, KEY) },
    {
      onAnswer: () => undefined,
      retryElsewhere: () => false,
      listenAddresses: new ListenAddresses(),
      onUnanswered: () => undefined,
      responseTimes: new ResponseTimes(),
      onNoServer: () => false,
      faults: new PacketFaults(() => undefined),
    },
  );
  await closing.opened();
  await expect.poll(() => udpSockets() - others, { timeout: HANG_MS }).toBe(16);
  closing.tick(Date.now());
  await expect.poll(() => udpSockets() - others, { timeout: HANG_MS }).toBe(17);
  closing.close();
  await expect.poll(() => udpSockets() - others, { timeout: HANG_MS }).toBe(0);
  closing.tick(Date.now());
  expect([udpSockets() - others, closing.up]).toEqual([0, false]);
});

it('a health probe that is unanswered when the next one is sent no longer waits for an answer', () => {
  backend.probe(0);
  backend.probe(1000);
  expect([backend.inFlight.waiting, backend.timedOut]).toEqual([1, 0]);
});
