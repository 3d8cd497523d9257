import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import { askTcp, query, questionBytes, RCODE, type UdpClient, withEdns } from './support/dnsClient.ts';
import { atEnd } from './support/ends.ts';
import { type guardInFront, type Protected, RULE, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { guarded, udp } from './support/opened.ts';

const LOOPBACK = '127.0.0.1';

async function started(...args: Parameters<typeof guardInFront>): Promise<Protected & { client: UdpClient }> {
  const [guard, client] = await Promise.all([guarded(...args), udp()]);
  return { ...guard, client };
}

/** Sends random names until the bucket is empty: from then on nearly every unknown name is refused. */
/** More than the bucket has tokens for. */
const RANDOM_NAMES = Array.from({ length: 700 }, (_, i) =>
  query(`x${i}.${ZONE_NAME}`, QueryType.A, 40_000 + i),
);
const dropped = ({ guard }: Protected): number =>
  guard.detector.verdicts.slice(24).reduce((sum, count) => sum + count, 0);
/** Sends random names until many were refused: on a busy machine the bucket fills while they are sent. */
async function emptied(all: Awaited<ReturnType<typeof started>>): Promise<void> {
  const before = dropped(all);
  await until('unknown names are refused', async () => {
    for (const packet of RANDOM_NAMES) all.client.send(packet, all.target);
    await all.client.ask(query(`www.${ZONE_NAME}`, QueryType.A, 39_999), all.target);
    return dropped(all) > before + 100;
  });
}

describe('a query that passes', () => {
  it('is answered as the server answers it: NOERROR, NODATA, NXDOMAIN, wildcard, delegation', async () => {
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

  it('comes back with the id and the letters in the case that the client sent', async () => {
    const { client, target } = await started({});
    const asked = query('wWw.ExAmPlE.tEsT', QueryType.A, 0xbeef);
    const answer = await client.ask(asked, target);
    expect(answer.id).toBe(0xbeef);
    expect(questionBytes(answer.bytes, asked)).toEqual(questionBytes(asked, asked));
  });

  it('keeps EDNS and truncation: a large answer comes whole with EDNS or over TCP, and with TC=1 without', async () => {
    const { client, target } = await started({});
    const asked = query('big.example.test', QueryType.TXT);
    expect(await client.ask(asked, target)).toMatchObject({ truncated: true, answers: 0 });
    expect(await client.ask(withEdns(asked, 4096), target)).toMatchObject({ truncated: true });
    const [overTcp] = await askTcp([asked], target);
    expect(overTcp).toMatchObject({ truncated: false, answers: 1 });
    expect(overTcp?.bytes.length).toBeGreaterThan(2000);
  });

  it('finds its own answer among four thousand at once', async () => {
    const { client, target } = await started({});
    const asked = Array.from({ length: 4000 }, (_, i) => query(`h${i % 200}.example.test`, QueryType.A, i));
    for (let from = 0; from < asked.length; from += 200)
      await client.askAll(asked.slice(from, from + 200), target);
    for (const [id, answer] of client.answers) expect(answer.bytes.at(-1)).toBe(id % 200);
  });
});

describe('a query that must pay with an empty bucket', () => {
  it('is dropped where the rule is enabled, while known names are answered', async () => {
    const all = await started({});
    await emptied(all);
    for (let i = 0; i < 50; i++)
      expect(await all.client.ask(query(`h${i}.example.test`, QueryType.A, i), all.target)).toMatchObject({
        answers: 1,
      });
    expect(dropped(all)).toBeGreaterThan(100);
  });

  it('is answered at its second try when its name is new, while random names are dropped', async () => {
    const all = await started({});
    const { client, target } = all;
    await emptied(all);
    let lost = 0;
    for (let i = 0; i < 10; i++) {
      const asked = query(`fresh${i}.example.test`, QueryType.A, i);
      for (; ; lost++) {
        client.send(asked, target);
        // The flood between the two tries empties the bucket for all but those who ask again.
        for (let j = 0; j < 50; j++)
          client.send(query(`y${i}-${j}.example.test`, QueryType.A, 50_000 + j), target);
        client.send(asked, target);
        if (await client.wait(() => client.answers.has(i), 1000)) break;
      }
    }
    // A packet may be lost on a busy machine.
    expect(lost).toBeLessThan(5);
    expect(dropped(all)).toBeGreaterThan(300);
  });

  it('is answered TC=1 where that is configured, and answered over TCP', async () => {
    const all = await started({}, { detector: { refuseWith: 'truncate' } });
    await emptied(all);
    const refused = [...all.client.answers.values()].find(({ truncated }) => truncated);
    expect(refused).toMatchObject({ rcode: RCODE.NOERROR, answers: 0 });
    const answers = await askTcp([query('x699.example.test'), query('x700.example.test')], all.target);
    expect(answers.map(({ rcode }) => rcode)).toEqual([RCODE.NXDOMAIN, RCODE.NXDOMAIN]);
  });

  it('passes where the rule is monitoring, and where there is none', async () => {
    for (const rule of [{ mode: 'monitoring' } as const, undefined]) {
      const all = await started(rule);
      await all.client.askAll(RANDOM_NAMES, all.target);
      expect(dropped(all)).toBe(0);
    }
  });

  it('is judged by the rule that was changed a moment ago', async () => {
    const all = await started({ mode: 'monitoring' });
    await all.client.askAll(RANDOM_NAMES, all.target);
    all.rules.set({ ...RULE, mode: 'enabled', modified_on: '2026-11-21T10:00:00.000000+00:00' });
    await emptied(all);
    expect(dropped(all)).toBeGreaterThan(100);
  });
});

describe('what is no query', () => {
  it('gets FORMERR, NOTIMP or nothing, is counted, and leaves the guard working', async () => {
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
    });
  });

  it('does not stop it by the thousand', async () => {
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

describe('servers', () => {
  const serve = async (port = 0) => {
    const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, port);
    return server;
  };

  it('that die are left alone, and used again when they are back', async () => {
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
    // What was asked before it counted as down is given up a moment later.
    await until('nothing waits for it', () => backends[0]?.inFlight.waiting === 0);
    const before = backends[0]?.timedOut;
    // For longer than a second: what waits too long is given up once in it, and probes of ours go on all the time.
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

  it('are asked from many ports under ids that nobody can guess', async () => {
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

  it('are believed only when their answer fits what was asked of them', async () => {
    const server = createSocket('udp4').bind(0, LOOPBACK);
    await once(server, 'listening');
    atEnd(() => server.close());
    server.on('message', (packet, { port, address }) => {
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
    await until('the others are counted', () => backend?.mismatched === 5);
    expect([backend?.answered, backend?.mismatched]).toEqual([1, 5]);
  });
});

describe('DNS over TCP', () => {
  it('is passed on while the bucket of UDP is empty: many questions in one connection, a few unknown names', async () => {
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

it('learns from answers over TCP as from those over UDP', async () => {
  const { client, target, guard } = await started({}, { seed: false });
  await askTcp([query('none.example.test'), query('www.example.test')], target);
  expect(guard.detector.zones.get('example.test')).toBeDefined();
  expect(guard.detector.profile.size).toBe(0);
  const other = await udp('127.0.1.1');
  for (const name of ['www', 'none']) await other.ask(query(`${name}.example.test`), target);
  expect(guard.detector.profile.size).toBe(1);
  expect(await client.ask(query('www.example.test'), target)).toMatchObject({ answers: 1 });
});

it('learns the zones and names that it was not told of', async () => {
  const { client, target, guard } = await started({}, { seed: false });
  const other = await udp('127.0.1.1');
  await client.ask(query('none.example.test'), target);
  expect(guard.detector.zones.get('example.test')).toBeDefined();
  for (const name of ['www', 'none'])
    for (const asking of [client, other]) await asking.ask(query(`${name}.example.test`), target);
  expect(guard.detector.profile.size).toBe(1);
});
