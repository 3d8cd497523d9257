/** Answers that the guard itself generates, over real sockets. docs/reference/dns-answers.md lists them. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { TcpPolicy, UserEnd, verdictOf } from '../../src/dns/detector/index.ts';
import { HEADER_BYTES, QueryType } from '../../src/dns/protocol/index.ts';
import { parseNetwork } from '../../src/platform/addresses/index.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { bindBoth } from './support/bindBoth.ts';
import { openTcpClient, openUdpClient, startGuarded } from './support/clients.ts';
import { query, RCODE, type UdpClient } from './support/dnsClient.ts';
import { opt, option, ownOpt, withRecords } from './support/edns.ts';
import { type FaultyServer, startFaultyServer } from './support/faultyServer.ts';
import { type GuardSetup, RULE, ZONE_NAME } from './support/guardInFront.ts';
import { queryShape } from './support/queryShapes.ts';
import { asAnswer } from './support/recordingServer.ts';

const INFO = { other: 0, blocked: 15, prohibited: 18, notSupported: 21, noServer: 22 };
const COOKIE = option(10, Buffer.from('0102030405060708', 'hex'));
/** An option that is large enough for an Extended DNS Error of the same size in the answer. */
const PADDING = option(12, Buffer.alloc(8));

const SHAPES = 1000;

const changed = (packet: Buffer, offset: number, byte: number): Buffer => {
  const copy = Buffer.from(packet);
  copy[offset] = byte;
  return copy;
};
const www = (id: number): Buffer => query(`www.${ZONE_NAME}`, QueryType.A, id);
const axfr = query(ZONE_NAME, QueryType.AXFR, 7);
const update = changed(query(ZONE_NAME, QueryType.SOA, 8), 2, 5 << 3);
const two = changed(Buffer.concat([www(9), www(9).subarray(HEADER_BYTES)]), 5, 2);
const optOf = (bytes: Buffer, questionEnd = HEADER_BYTES): Buffer => bytes.subarray(questionEnd);
/** No token is left for unknown names after the first one. */
const NO_TOKENS = {
  detector: {
    thresholds: {
      unknownPerSecond: 1000,
      accountUnknownPerSecond: 5000,
      zones: {},
      ratePerSecond: 1,
      burst: 1,
    },
  },
};

/** Sends unknown names until one is limited, and returns the answer to it. */
const limitedAnswer = (
  ask: (packet: Buffer) => Promise<Buffer | undefined>,
  isLimited: (a: Buffer) => boolean,
) =>
  until('an unknown name to be limited', async () => {
    const packet = withRecords(
      query(`x${Math.random()}.${ZONE_NAME}`),
      opt({ dnssecOk: true, options: PADDING }),
    );
    const answer = await ask(packet);
    return answer !== undefined && isLimited(answer) && { packet, answer };
  });

describe("the guard's own answers over UDP", () => {
  it.each([
    ['REFUSED', { packet: axfr, rcode: RCODE.REFUSED, end: axfr.length, info: INFO.prohibited }],
    ['NOTIMP', { packet: update, rcode: RCODE.NOTIMP, end: HEADER_BYTES, info: INFO.notSupported }],
    ['FORMERR', { packet: two, rcode: RCODE.FORMERR, end: HEADER_BYTES, info: undefined }],
  ])(
    '%s has an OPT record only if the query has one, and an Extended DNS Error only if it fits',
    async (_, { packet, rcode, end, info }) => {
      const { target } = await startGuarded(RULE);
      const client = await openUdpClient();
      const ask = async (...records: Buffer[]) => {
        const asked = withRecords(packet, ...records);
        const answer = await client.ask(asked, target);
        expect(answer).toMatchObject({ rcode, answers: 0 });
        expect(answer.bytes.length).toBeLessThanOrEqual(asked.length);
        expect(answer.bytes.readUInt16BE(10)).toBe(records.length);
        return optOf(answer.bytes, end);
      };
      expect(await ask()).toEqual(Buffer.alloc(0));
      for (const dnssecOk of [false, true])
        expect(await ask(opt({ dnssecOk, options: PADDING }))).toEqual(ownOpt(dnssecOk, info));
      // Without an option, REFUSED with a question and an Extended DNS Error would be longer than the query.
      const isShorter = end === HEADER_BYTES;
      expect(await ask(opt())).toEqual(ownOpt(false, isShorter ? info : undefined));
    },
  );

  it('TC=1 has an OPT record, and no Extended DNS Error', async () => {
    const { detector } = NO_TOKENS;
    const { target } = await startGuarded(RULE, { detector: { ...detector, limitAction: 'truncate' } });
    const client = await openUdpClient();
    const { packet, answer } = await limitedAnswer(
      async (asked) => (await client.ask(asked, target)).bytes,
      (bytes) => (bytes.readUInt8(2) & 0x02) !== 0,
    );
    expect(optOf(answer, packet.length - opt({ options: PADDING }).length)).toEqual(ownOpt(true));
  });

  it('TC=1 of the response rate limit has an OPT record only if the query has one', async () => {
    const { target } = await startGuarded(undefined, { responseRateLimit: { perSecond: 1 } });
    const client = await openUdpClient();
    for (const records of [[], [opt({ dnssecOk: true, options: PADDING })]]) {
      const asked = withRecords(www(3), ...records);
      const { bytes } = await until('an answer to be truncated', async () => {
        const answer = await client.ask(asked, target);
        return answer.truncated && answer;
      });
      expect(optOf(bytes, www(3).length)).toEqual(records.length === 0 ? Buffer.alloc(0) : ownOpt(true));
    }
  });

  it('a query with a malformed option or two OPT records is answered FORMERR, and reaches no server', async () => {
    const server = await faulty();
    const { target } = await startGuarded(RULE, { servers: [server] });
    const client = await openUdpClient();
    const cut = opt({ dnssecOk: true, options: option(3, Buffer.alloc(1), 2) });
    for (const records of [[cut], [opt({ dnssecOk: true }), opt()]]) {
      const answer = await client.ask(withRecords(www(4), ...records), target);
      expect(answer.rcode).toBe(RCODE.FORMERR);
      expect(optOf(answer.bytes)).toEqual(ownOpt(true));
    }
    const overTcp = await (await openTcpClient(target)).ask(withRecords(www(4), cut));
    expect(overTcp).toMatchObject({ rcode: RCODE.FORMERR });
    expect(server.asked - server.probed).toBe(0);
  });

  it('are never longer than the queries, for random shapes of queries while no server is in use', async () => {
    const random = new Random(20_261_126);
    const { target } = await withoutServer();
    const client = await openUdpClient();
    const sent = Array.from({ length: SHAPES }, (_, id) => queryShape(random, id));
    for (const [id, packet] of sent.entries()) {
      client.send(packet, target);
      // The answer proves that the guard has received all packets before.
      if (id % 100 === 99)
        await client.ask(changed(query(ZONE_NAME, QueryType.A, SHAPES), 2, 5 << 3), target);
    }
    await until('most packets to be answered', () => client.answers.size > SHAPES / 2);
    const longer = sent.filter((packet, id) => (client.answers.get(id)?.bytes.length ?? 0) > packet.length);
    expect(longer.map((packet) => packet.toString('hex'))).toEqual([]);
  });
});

describe("the guard's own answers over TCP", () => {
  const infoOf = (bytes: Buffer | undefined, end: number): Buffer | undefined => bytes && optOf(bytes, end);

  it('have an Extended DNS Error if the query has an OPT record', async () => {
    const { target } = await startGuarded(RULE);
    const client = await openTcpClient(target);
    for (const [packet, end, info] of [
      [axfr, axfr.length, INFO.prohibited],
      [update, HEADER_BYTES, INFO.notSupported],
      [two, HEADER_BYTES, undefined],
    ] as const) {
      expect(infoOf((await client.ask(packet))?.bytes, end)).toEqual(Buffer.alloc(0));
      for (const dnssecOk of [false, true])
        expect(infoOf((await client.ask(withRecords(packet, opt({ dnssecOk }))))?.bytes, end)).toEqual(
          ownOpt(dnssecOk, info),
        );
    }
  });

  it('distinguish a denied name, a denied network and a query without a token', async () => {
    const { target, guard } = await startGuarded(RULE, NO_TOKENS);
    const client = await openTcpClient(target);
    const ask = async (packet: Buffer) => (await client.ask(packet))?.bytes;
    const { packet, answer } = await limitedAnswer(
      ask,
      (bytes) => (bytes.readUInt8(3) & 15) === RCODE.REFUSED,
    );
    expect(infoOf(answer, packet.length - opt({ options: PADDING }).length)).toEqual(
      ownOpt(true, INFO.other),
    );
    const names = [{ name: ZONE_NAME, access: 'deny' as const }];
    const networks = [{ network: parseNetwork('127.0.0.1'), access: 'deny' as const }];
    const asked = withRecords(www(5), opt());
    for (const [lists, info] of [
      [{ names, networks: [] }, INFO.blocked],
      [{ names: [], networks }, INFO.prohibited],
      [{ names, networks }, INFO.prohibited],
    ] as const) {
      guard.detector.setAccessLists(lists);
      const refused = await ask(asked);
      expect((refused?.readUInt8(3) ?? 0) & 15).toBe(RCODE.REFUSED);
      expect(infoOf(refused, www(5).length)).toEqual(ownOpt(false, info));
    }
  });
});

async function faulty(): Promise<FaultyServer> {
  const server = await startFaultyServer();
  atEnd(() => server.stop());
  return server;
}

/** Starts a guard whose servers are silent, and resolves when none of them is in use over UDP and TCP. */
async function withoutServer(
  count = 1,
): Promise<GuardSetup & { readonly server: FaultyServer; readonly client: UdpClient }> {
  const [server, ...others] = [
    await faulty(),
    ...(await Promise.all(Array.from({ length: count - 1 }, faulty))),
  ];
  const started = await startGuarded(RULE, { servers: [server, ...others] });
  for (const one of [server, ...others]) one.mode = 'silent';
  const client = await openUdpClient();
  await until('the servers to be taken out of use', () => {
    client.send(www(1), started.target);
    const { servers, tcp } = started.plane;
    return servers.every(({ up }) => !up) && (count === 1 || tcp.serversUp === 0);
  });
  return { ...started, server, client };
}

describe('without a server in use', () => {
  it.each([1, 2])(
    'UDP queries are answered SERVFAIL, with an Extended DNS Error if it fits, and counted, with %i silent server(s)',
    async (servers) => {
      const { target, plane } = await withoutServer(servers);
      const client = await openUdpClient();
      const before = plane.servfails();
      for (const [id, options] of [undefined, PADDING].entries()) {
        const asked = withRecords(www(id), opt({ dnssecOk: true, ...(options && { options }) }));
        // The guard still forwards the query, and answers it when the server has not answered in time.
        const answer = await client.ask(asked, target, 5000);
        expect(answer).toMatchObject({ id, rcode: RCODE.SERVFAIL, answers: 0 });
        expect(answer.bytes.subarray(HEADER_BYTES, www(id).length)).toEqual(www(id).subarray(HEADER_BYTES));
        expect(optOf(answer.bytes, www(id).length)).toEqual(ownOpt(true, options && INFO.noServer));
      }
      expect(plane.servfails() - before).toBeGreaterThanOrEqual(2);
      // A probe may be pending at each server.
      await until('no query to be pending', () =>
        plane.servers.every(({ inFlight }) => inFlight.waiting <= 1),
      );
    },
  );

  it('a server that answers again is used at once', async () => {
    const { target, server } = await withoutServer();
    server.mode = 'right';
    const client = await openUdpClient();
    expect(await client.ask(www(2), target)).toMatchObject({ rcode: RCODE.NOERROR });
  });

  it('a flood gets at most 1,000 SERVFAIL answers in each second, and no query more than one', async () => {
    const { target, plane } = await withoutServer();
    const client = await openUdpClient();
    const received = new Map<number, number>();
    client.socket.on('message', () => {
      const second = Math.floor(Date.now() / 1000);
      received.set(second, (received.get(second) ?? 0) + 1);
    });
    for (let id = 0; id < 6000; id++) {
      client.send(query(`h${id % 200}.${ZONE_NAME}`, QueryType.A, id), target);
      if (id % 100 === 0) await pause(1);
    }
    // A probe may be pending.
    await until('no query to be pending', () => (plane.servers[0]?.inFlight.waiting ?? 0) <= 1);
    const seconds = received.size;
    const answers = [...received.values()].reduce((sum, count) => sum + count, 0);
    expect(answers).toBe(client.answers.size);
    expect(plane.servfails()).toBeGreaterThanOrEqual(answers);
    // Answers of one second may arrive in the next one.
    expect(answers).toBeLessThanOrEqual(1000 * (seconds + 1));
    expect(answers).toBeLessThan(6000);
  });

  it('queries that the guard drops stay without an answer', async () => {
    const { target, plane, client, guard } = await withoutServer();
    guard.detector.setAccessLists({ names: [{ name: `h1.${ZONE_NAME}`, access: 'deny' }], networks: [] });
    client.send(query(`h1.${ZONE_NAME}`, QueryType.A, 500), target);
    expect(await client.ask(query(`h2.${ZONE_NAME}`, QueryType.A, 501), target, 5000)).toMatchObject({
      rcode: RCODE.SERVFAIL,
    });
    // A probe may be pending.
    await until('no query to be pending', () => (plane.servers[0]?.inFlight.waiting ?? 0) <= 1);
    expect(client.answers.has(500)).toBe(false);
  });

  it.each([
    ['the server refuses connections', 1, true],
    ['the server is silent', 1, false],
    ['two servers are silent', 2, false],
  ])(
    'TCP queries are answered SERVFAIL if %s, and the connection stays open',
    async (_, servers, isStopped) => {
      const { target, plane, server } = await withoutServer(servers);
      if (isStopped) await server.stop();
      const client = await openTcpClient(target);
      for (const id of [1, 2]) {
        const answer = await client.ask(withRecords(www(id), opt()));
        expect(answer).toMatchObject({ id, rcode: RCODE.SERVFAIL });
        expect(answer && optOf(answer.bytes, www(id).length)).toEqual(ownOpt(false, INFO.noServer));
      }
      expect(client.closed).toBe(false);
      expect(plane.tcp.servfails).toBe(2);
    },
  );
});

describe('a query that a server does not answer, while it answers others,', () => {
  async function lossy(): Promise<GuardSetup> {
    const server = await faulty();
    server.silentFor = 'h1';
    return startGuarded(RULE, { servers: [server] });
  }
  const lost = query(`h1.${ZONE_NAME}`, QueryType.A, 1);

  it('gets no answer over UDP', async () => {
    const { target, plane } = await lossy();
    const client = await openUdpClient();
    client.send(lost, target);
    await until('the query to time out', async () => {
      await client.ask(www(2), target);
      return plane.servers[0]?.timedOut === 1;
    });
    expect([client.answers.has(1), plane.servers[0]?.up, plane.servfails()]).toEqual([false, true, 0]);
  });

  it('is answered SERVFAIL over TCP, and the connection stays open', async () => {
    const counted = vi.spyOn(TcpPolicy.prototype, 'countUser');
    atEnd(() => counted.mockRestore());
    const { target, plane } = await lossy();
    const client = await openTcpClient(target);
    client.send(lost, www(2));
    const answers = await client.received(2);
    expect(answers.map(({ id, rcode }) => [id, rcode])).toEqual([
      [2, RCODE.NOERROR],
      [1, RCODE.SERVFAIL],
    ]);
    expect(await client.ask(www(3))).toMatchObject({ id: 3, rcode: RCODE.NOERROR });
    expect([client.closed, plane.tcp.servfails]).toEqual([false, 1]);
    expect(counted.mock.calls).toContainEqual([expect.any(Number), UserEnd.unanswered]);
  });
});

describe.each([
  ['a message of length zero', Buffer.alloc(0)],
  ['a message shorter than a header', Buffer.alloc(11)],
  ['a response', changed(www(5), 2, 0x81)],
])('%s over TCP', (_, message) => {
  it('ends the connection after the pending answers, and later messages are not answered', async () => {
    const { target, plane } = await startGuarded(RULE);
    const client = await openTcpClient(target);
    client.send(www(1), www(2), update, message, www(3));
    await client.ended();
    expect(client.answers.map(({ id }) => id).sort()).toEqual([1, 2, 8]);
    // The client keeps its side open, and the guard closes the connection all the same.
    await until('the connection to be closed', () => plane.tcp.connections === 0);
    expect(plane.tcp.counts.closed.no_dns).toBe(1);
  });

  it('ends the connection of a client that then sends without pause', async () => {
    const { target, plane } = await startGuarded(RULE);
    const client = await openTcpClient(target);
    client.send(www(1), message);
    await client.ended();
    expect(client.answers).toHaveLength(1);
    const { socket } = client;
    const isClosed = () => socket.closed || plane.tcp.connections === 0;
    const chunk = Buffer.alloc(16 * 1024);
    await until('the connection to be closed', async () => {
      if (!isClosed() && socket.writable && socket.writableLength === 0) socket.write(chunk);
      return isClosed();
    });
    await until('the guard to count it', () => plane.tcp.connections === 0);
    // The guard read at most 64 KB and one chunk; the rest is in the buffers of the system.
    expect(plane.tcp.counts.closed.no_dns).toBe(1);
  });

  it('ends the connection if the pending query gets no answer', async () => {
    const server = await faulty();
    server.silentFor = 'h1';
    const { target, plane } = await startGuarded(RULE, { servers: [server] });
    const client = await openTcpClient(target);
    client.send(query(`h1.${ZONE_NAME}`, QueryType.A, 1), message);
    await client.ended();
    expect(client.answers).toMatchObject([{ id: 1, rcode: RCODE.SERVFAIL }]);
    await until('the connection to be closed', () => plane.tcp.connections === 0);
  });
});

describe('connections that are closing', () => {
  it('are bounded in number and time if their clients neither read nor close', async () => {
    const { target, plane } = await startGuarded(RULE);
    const big = query(`big.${ZONE_NAME}`, QueryType.TXT, 1);
    const clients = await Promise.all(Array.from({ length: 520 }, () => openTcpClient(target)));
    for (const client of clients) {
      client.socket.pause();
      client.send(big, Buffer.alloc(0));
    }
    await until('all connections to be closed', () => {
      expect(plane.tcp.connections).toBeLessThanOrEqual(500);
      return plane.tcp.connections === 0;
    });
  });
});

describe('a query that consists of a DNS cookie', () => {
  const header = changed(Buffer.alloc(HEADER_BYTES), 2, 0x01);
  const cookie = withRecords(header, opt({ options: COOKIE }));

  it('is forwarded over UDP and TCP, pays a token, and its answer without a question reaches the client', async () => {
    const server = await faulty();
    const { target, plane, guard } = await startGuarded(RULE, { servers: [server] });
    const client = await openUdpClient();
    const answer = await client.ask(cookie, target);
    const expected = changed(cookie, 2, 0x81);
    expect(answer.bytes).toEqual(expected);
    expect((await (await openTcpClient(target)).ask(cookie))?.bytes).toEqual(expected);
    expect([plane.packets().cookie, plane.packets().ok]).toEqual([1, 0]);
    expect(guard.detector.verdicts[verdictOf('paid', 'unknownName')]).toBe(1);
    expect(plane.tcp.counts.queries[verdictOf('paid', 'unknownName')]).toBe(1);
  });

  it('gets no answer that has a question', async () => {
    const { udp, tcp, port } = await bindBoth();
    atEnd(
      () => udp.close(),
      () => tcp.close(),
    );
    udp.on('message', (packet, client) => {
      const question = www(packet.readUInt16BE(0));
      udp.send(asAnswer(packet.readUInt16BE(4) === 0 ? question : packet), client.port, client.address);
    });
    const { target, plane } = await startGuarded(RULE, { servers: [{ host: '127.0.0.1', port }] });
    const client = await openUdpClient();
    client.send(cookie, target);
    await until('the answer to be counted as mismatched', () => plane.servers[0]?.mismatched === 1);
    await client.ask(www(2), target);
    expect([...client.answers.keys()]).toEqual([2]);
  });

  it('is forwarded without a token only if the rule monitors, and is dropped or REFUSED otherwise', async () => {
    const server = await faulty();
    const { target, plane, rules } = await startGuarded(RULE, { servers: [server], ...NO_TOKENS });
    const [client, overTcp] = [await openUdpClient(), await openTcpClient(target)];
    const dropped = verdictOf('dropped', 'unknownName');
    await until('cookies to be dropped', () => {
      client.send(cookie, target);
      return (plane.packets().cookie ?? 0) > 0 && client.answers.size === 0;
    });
    const refused = await until('a cookie over TCP to be REFUSED', async () => {
      const answer = await overTcp.ask(cookie);
      return answer?.rcode === RCODE.REFUSED && answer;
    });
    expect(optOf(refused.bytes)).toEqual(ownOpt(false, INFO.other));
    expect(plane.tcp.counts.queries[dropped]).toBeGreaterThan(0);
    rules.set({ ...RULE, mode: 'monitoring' });
    for (const asking of [() => client.ask(cookie, target), () => overTcp.ask(cookie)])
      await until('cookies to be forwarded', async () => (await asking())?.rcode === RCODE.NOERROR);
  });

  it('is subject to the access lists of networks', async () => {
    const { target, guard } = await startGuarded(RULE);
    guard.detector.setAccessLists({
      names: [],
      networks: [{ network: parseNetwork('127.0.0.1'), access: 'deny' }],
    });
    const refused = await (await openTcpClient(target)).ask(cookie);
    expect(refused).toMatchObject({ rcode: RCODE.REFUSED });
    expect(refused && optOf(refused.bytes)).toEqual(ownOpt(false, INFO.prohibited));
  });

  it('is answered FORMERR if it has two cookies or none', async () => {
    const { target } = await startGuarded(RULE);
    const client = await openUdpClient();
    for (const options of [Buffer.alloc(0), Buffer.concat([COOKIE, COOKIE]), option(10, Buffer.alloc(7))]) {
      const asked = withRecords(header, opt({ options }));
      expect(await client.ask(asked, target)).toMatchObject({ rcode: RCODE.FORMERR });
    }
  });
});
