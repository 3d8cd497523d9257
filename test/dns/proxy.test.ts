import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient, startGuarded } from './support/clients.ts';
import { askTcp, query, questionBytes, RCODE, type UdpClient, withEdns } from './support/dnsClient.ts';
import {
  type GuardSetup,
  RULE,
  type startGuardInFront,
  ZONE_NAME,
  ZONE_TEXT,
} from './support/guardInFront.ts';

const LOOPBACK = '127.0.0.1';

async function started(
  ...args: Parameters<typeof startGuardInFront>
): Promise<GuardSetup & { client: UdpClient }> {
  const [guard, client] = await Promise.all([startGuarded(...args), openUdpClient()]);
  return { ...guard, client };
}

/** More queries than the bucket has tokens. */
const RANDOM_NAMES = Array.from({ length: 700 }, (_, i) =>
  query(`x${i}.${ZONE_NAME}`, QueryType.A, 40_000 + i),
);
const dropped = ({ guard }: GuardSetup): number =>
  guard.detector.verdicts.slice(24).reduce((sum, count) => sum + count, 0);
/**
 * Sends random names until more than 100 were dropped. On a busy machine the bucket refills in between, so this may
 * need several rounds.
 */
async function emptied(all: Awaited<ReturnType<typeof started>>): Promise<void> {
  const before = dropped(all);
  await until('unknown names to be dropped', async () => {
    for (const packet of RANDOM_NAMES) all.client.send(packet, all.target);
    await all.client.ask(query(`www.${ZONE_NAME}`, QueryType.A, 39_999), all.target);
    return dropped(all) > before + 100;
  });
}

describe('a query that passes', () => {
  it("receives the server's answer: NOERROR, NODATA, NXDOMAIN, wildcard or delegation", async () => {
    const { client, target } = await started({});
    const rcodeOf = async (name: string, type?: number) => {
      const { rcode, answers } = await client.ask(query(name, type), target);
      return [rcode, answers];
    };
    expect(await rcodeOf('www.example.test')).toEqual([RCODE.NOERROR, 1]);
    expect(await rcodeOf('www.example.test', QueryType.MX)).toEqual([RCODE.NOERROR, 0]);
    expect(await rcodeOf('under.here.example.test')).toEqual([RCODE.NOERROR, 0]);
    expect(await rcodeOf('none.example.test')).toEqual([RCODE.NXDOMAIN, 0]);
    expect(await rcodeOf('anybody.users.example.test')).toEqual([RCODE.NOERROR, 1]);
    expect(await rcodeOf('any.sub.example.test')).toEqual([RCODE.NOERROR, 0]);
    expect(await rcodeOf('elsewhere.test')).toEqual([RCODE.REFUSED, 0]);
  });

  it("is answered with the client's id and with the name in the client's upper and lower case", async () => {
    const { client, target } = await started({});
    const asked = query('wWw.ExAmPlE.tEsT', QueryType.A, 0xbeef);
    const answer = await client.ask(asked, target);
    expect(answer.id).toBe(0xbeef);
    expect(questionBytes(answer.bytes, asked)).toEqual(questionBytes(asked, asked));
  });

  it('preserves EDNS and TC: a large answer is truncated over UDP and complete over TCP', async () => {
    const { client, target } = await started({});
    const asked = query('big.example.test', QueryType.TXT);
    expect(await client.ask(asked, target)).toMatchObject({ truncated: true, answers: 0 });
    expect(await client.ask(withEdns(asked, 4096), target)).toMatchObject({ truncated: true });
    const [overTcp] = await askTcp([asked], target);
    expect(overTcp).toMatchObject({ truncated: false, answers: 1 });
    expect(overTcp?.bytes.length).toBeGreaterThan(2000);
  });

  it('receives its own answer among 4,000', async () => {
    const { client, target } = await started({});
    const asked = Array.from({ length: 4000 }, (_, i) => query(`h${i % 200}.example.test`, QueryType.A, i));
    for (let from = 0; from < asked.length; from += 200)
      await client.askAll(asked.slice(from, from + 200), target);
    for (const [id, answer] of client.answers) expect(answer.bytes.at(-1)).toBe(id % 200);
  });
});

describe('a query for an unknown name while the bucket is empty', () => {
  it('is dropped if the rule is enabled, while known names are answered', async () => {
    const all = await started({});
    await emptied(all);
    for (let i = 0; i < 50; i++)
      expect(await all.client.ask(query(`h${i}.example.test`, QueryType.A, i), all.target)).toMatchObject({
        answers: 1,
      });
    expect(dropped(all)).toBeGreaterThan(100);
  });

  it('is answered at its second attempt if the name is new, while random names are dropped', async () => {
    const all = await started({});
    const { client, target } = all;
    await emptied(all);
    let lost = 0;
    for (let i = 0; i < 10; i++) {
      const asked = query(`fresh${i}.example.test`, QueryType.A, i);
      for (; ; lost++) {
        client.send(asked, target);
        // The flood between the two attempts empties the bucket, except for its reserve for repeated names.
        for (let j = 0; j < 50; j++)
          client.send(query(`y${i}-${j}.example.test`, QueryType.A, 50_000 + j), target);
        client.send(asked, target);
        if (await client.wait(() => client.answers.has(i), 1000)) break;
      }
    }
    // A busy machine may lose a packet.
    expect(lost).toBeLessThan(5);
    expect(dropped(all)).toBeGreaterThan(300);
  });

  it('is answered TC=1 if so configured, and then over TCP', async () => {
    const all = await started({}, { detector: { limitAction: 'truncate' } });
    await emptied(all);
    const refused = [...all.client.answers.values()].find(({ truncated }) => truncated);
    expect(refused).toMatchObject({ rcode: RCODE.NOERROR, answers: 0 });
    const answers = await askTcp([query('x699.example.test'), query('x700.example.test')], all.target);
    expect(answers.map(({ rcode }) => rcode)).toEqual([RCODE.NXDOMAIN, RCODE.NXDOMAIN]);
  });

  it('passes if the rule is monitoring or if no rule exists', async () => {
    for (const rule of [{ mode: 'monitoring' } as const, undefined]) {
      const all = await started(rule);
      await all.client.askAll(RANDOM_NAMES, all.target);
      expect(dropped(all)).toBe(0);
    }
  });

  it('is subject to a rule that was just changed', async () => {
    const all = await started({ mode: 'monitoring' });
    await all.client.askAll(RANDOM_NAMES, all.target);
    all.rules.set({ ...RULE, mode: 'enabled', modified_on: '2026-11-21T10:00:00.000000+00:00' });
    await emptied(all);
    expect(dropped(all)).toBeGreaterThan(100);
  });
});

describe('a packet that is not a query', () => {
  it('is answered FORMERR or NOTIMP or dropped, and counted', async () => {
    const { client, target, guard } = await started({});
    const good = query('www.example.test', QueryType.A, 7);
    const changed = (offset: number, byte: number) => {
      const packet = Buffer.from(good);
      packet[offset] = byte;
      return packet;
    };
    for (const packet of [Buffer.alloc(0), good.subarray(0, 11), changed(2, 0x80)])
      client.send(packet, target);
    for (const packet of [changed(5, 0), changed(5, 255), good.subarray(0, 20), changed(12, 0xc0)]) {
      expect(await client.ask(packet, target)).toMatchObject({ id: 7, rcode: RCODE.FORMERR });
      client.answers.clear();
    }
    expect(await client.ask(changed(2, 5 << 3), target)).toMatchObject({ rcode: RCODE.NOTIMP });
    expect(await client.ask(good, target)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(guard.dataPlane.packets()).toEqual({
      ok: 1,
      tooShort: 2,
      response: 1,
      tooLong: 0,
      questionCount: 2,
      badName: 2,
      cutShort: 0,
      opcode: 1,
      portZero: 0,
      transfer: 0,
      badOpt: 0,
      cookie: 0,
    });
  });

  it('does not stop the guard, even if 5,000 random ones arrive', async () => {
    const { client, target } = await started({});
    let seed = 42;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    for (let i = 0; i < 5000; i++) {
      const packet = query(`h${i}.example.test`, random(0x10000), random(0x10000));
      for (let change = random(6); change > 0; change--) packet[random(packet.length)] = random(256);
      client.send(packet.subarray(0, packet.length - (random(3) === 0 ? random(packet.length) : 0)), target);
      if (i % 100 === 0) await client.ask(query('www.example.test', QueryType.A, 1), target);
    }
    expect(await client.ask(query('www.example.test', QueryType.A, 1), target)).toMatchObject({
      rcode: RCODE.NOERROR,
    });
  });
});

describe('upstream DNS servers', () => {
  const serve = async (port = 0) => {
    const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, port);
    return server;
  };

  it('are no longer queried after a failure, and are used again when they recover', async () => {
    const [one, two] = [await serve(await freePort()), await serve()];
    atEnd(() => two.stop());
    const { client, target, guard } = await started({}, { servers: [one, two], timeoutMs: 200 });
    const backends = guard.dataPlane.servers;
    await one.stop();
    const askUntil = async (condition: () => boolean) => {
      for (let i = 0; !condition(); i++) {
        client.send(query('www.example.test', QueryType.A, i & 0xffff), target);
        await client.wait(condition, 20);
      }
    };
    await askUntil(() => backends[0]?.up === false);
    // Queries sent before the server was marked as down time out a moment later.
    await until('no query to be waiting for the failed server', () => backends[0]?.inFlight.waiting === 0);
    const before = backends[0]?.timedOut;
    // Longer than a second, because timeouts are checked once a second; the guard's own probes continue.
    for (let i = 0; i < 75; i++) {
      await client.ask(query('www.example.test', QueryType.A, i), target, 5000);
      await pause(20);
    }
    expect(backends[0]?.timedOut).toBe(before);
    const [overTcp] = await askTcp([query('www.example.test')], target);
    expect(overTcp).toMatchObject({ rcode: RCODE.NOERROR });
    const back = await serve(one.port);
    atEnd(() => back.stop());
    await askUntil(() => backends[0]?.up === true);
  });

  it('are queried from many ports under unpredictable ids', async () => {
    const seen: { port: number; id: number }[] = [];
    const server = createSocket('udp4').bind(0, LOOPBACK);
    const tcp = createServer();
    await once(server, 'listening');
    atEnd(
      () => server.close(),
      () => tcp.close(),
    );
    server.on('message', (packet, { port, address }) => {
      seen.push({ port, id: packet.readUInt16BE(0) });
      packet[2] = 0x80;
      server.send(packet, port, address);
    });
    const { client, target } = await started(undefined, {
      servers: [{ host: LOOPBACK, port: server.address().port }],
    });
    for (let i = 0; i < 500; i++) await client.ask(query('www.example.test', QueryType.A, 1), target);
    expect(new Set(seen.map(({ port }) => port)).size).toBeGreaterThanOrEqual(16);
    expect(new Set(seen.map(({ id }) => id)).size).toBeGreaterThan(480);
  });

  it('are trusted only if the answer matches the query', async () => {
    const server = createSocket('udp4').bind(0, LOOPBACK);
    await once(server, 'listening');
    atEnd(() => server.close());
    server.on('message', (packet, { port, address }) => {
      if (packet.readUInt16BE(packet.length - 4) === QueryType.SOA) return; // a probe
      const answer = (change: (copy: Buffer) => void) => {
        const copy = Buffer.from(packet);
        copy[2] = 0x80;
        change(copy);
        server.send(copy, port, address);
      };
      answer((copy) => copy.writeUInt16BE(copy.readUInt16BE(0) ^ 1, 0));
      answer((copy) => copy.write('h', 13));
      answer((copy) => copy.writeUInt16BE(QueryType.TXT, copy.length - 4));
      answer((copy) => copy.writeUInt8(0, 2));
      answer((copy) => copy.writeUInt8(RCODE.NXDOMAIN, 3));
      answer((copy) => copy.writeUInt8(RCODE.REFUSED, 3));
    });
    const { client, target, guard } = await started(undefined, {
      servers: [{ host: LOOPBACK, port: server.address().port }],
    });
    expect(await client.ask(query('www.example.test'), target)).toMatchObject({ rcode: RCODE.NXDOMAIN });
    const [backend] = guard.dataPlane.servers;
    await until('the mismatched answers to be counted', () => backend?.mismatched === 5);
    expect([backend?.answered, backend?.mismatched]).toEqual([1, 5]);
  });
});

describe('DNS over TCP', () => {
  it('is forwarded while the UDP bucket is empty: many queries on one connection, with a few unknown names', async () => {
    const all = await started({});
    await emptied(all);
    const isKnown = (i: number) => i % 10 !== 0;
    const asked = Array.from({ length: 300 }, (_, i) =>
      query(`${isKnown(i) ? 'h' : 't'}${i % 200}.example.test`, QueryType.A, i),
    );
    const answers = await askTcp(asked, all.target);
    expect(answers.map(({ id, rcode }) => [id, rcode])).toEqual(
      asked.map((_, i) => [i, isKnown(i) ? RCODE.NOERROR : RCODE.NXDOMAIN]),
    );
  });
});

it('the guard learns from answers over TCP as it does over UDP', async () => {
  const { client, target, guard } = await started({}, { seed: false });
  await askTcp([query('none.example.test'), query('www.example.test')], target);
  expect(guard.detector.zones.get('example.test')).toBeDefined();
  expect(guard.detector.profile.size).toBe(0);
  const other = await openUdpClient('127.0.1.1');
  for (const name of ['www', 'none']) await other.ask(query(`${name}.example.test`), target);
  expect(guard.detector.profile.size).toBe(1);
  expect(await client.ask(query('www.example.test'), target)).toMatchObject({ answers: 1 });
});

it('the guard learns zones and names that were not seeded', async () => {
  const { client, target, guard } = await started({}, { seed: false });
  const other = await openUdpClient('127.0.1.1');
  await client.ask(query('none.example.test'), target);
  expect(guard.detector.zones.get('example.test')).toBeDefined();
  for (const name of ['www', 'none'])
    for (const asking of [client, other]) await asking.ask(query(`${name}.example.test`), target);
  expect(guard.detector.profile.size).toBe(1);
});
