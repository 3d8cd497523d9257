import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turnOfLoop } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { inCi } from '../support/search.ts';
import { until } from '../support/until.ts';
import { query, RCODE, type Target } from './support/dnsClient.ts';
import { atEnd } from './support/ends.ts';
import { guardInFront, type Protected, RULE, ZONE_NAME } from './support/guardInFront.ts';
import { guarded, tcp } from './support/opened.ts';
import { asAnswer, recordingServer } from './support/recordingServer.ts';
import { framed, TcpClient } from './support/tcpClient.ts';

const good = query(`www.${ZONE_NAME}`, QueryType.A, 9);
/** Its answer has more than 2,000 bytes. */
const large = query(`big.${ZONE_NAME}`, QueryType.TXT, 10);
const ATTACKERS = Array.from({ length: 10 }, (_, i) => `127.0.2.${i + 1}`);
const EACH = 100;
/** More queries than a client comes to that asks as fast as it can while a test lasts. */
const UNCOUNTED = 1e9;

/** A connection of somebody who wants to be in the way: it never minds being closed. */
function attack(target: Target, localAddress: string, begin: (socket: Socket) => void): Socket {
  const socket = connect({ ...target, localAddress, allowHalfOpen: true });
  socket.on('error', () => {});
  socket.once('connect', () => begin(socket));
  return socket;
}

/** The guard and the server accept a connection a turn of the event loop, which they share with these here. */
const REOPEN_MS = 50;

/** Opens so many connections from each address and keeps opening new ones for those that were closed, until it is stopped. */
function crowd(
  target: Target,
  begin: (socket: Socket) => void,
  { addresses = ATTACKERS, each = EACH }: { addresses?: readonly string[]; each?: number } = {},
): { opened: () => number; open: () => number } {
  const open = new Set<Socket>();
  let opened = 0;
  let stopped = false;
  const add = (address: string): void => {
    if (stopped) return;
    const socket = attack(target, address, (connected) => {
      opened++;
      begin(connected);
    });
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      setTimeout(add, REOPEN_MS, address);
    });
  };
  for (const address of addresses) for (let i = 0; i < each; i++) add(address);
  atEnd(() => {
    stopped = true;
    for (const socket of open) socket.destroy();
  });
  return { opened: () => opened, open: () => open.size };
}

/** As often as a busy resolver asks: without a pause, five of them and their server leave the loop to nobody else. */
const ASK_MS = 20;

/** Asks again and again over one connection until it is stopped; it is to be answered every time. */
function regular(client: TcpClient): { answered: () => number; stop: () => Promise<void> } {
  let answered = 0;
  let stopped = false;
  const asking = (async () => {
    while (!stopped) {
      const answer = await client.ask(good);
      if (answer === undefined) throw new Error(`closed after ${answered} answers`);
      answered++;
      await pause(ASK_MS);
    }
  })();
  let failure: unknown;
  asking.catch((error: unknown) => {
    failure = error;
  });
  return {
    answered() {
      if (failure !== undefined) throw failure;
      return answered;
    },
    async stop() {
      stopped = true;
      await asking;
    },
  };
}

const every = (socket: Socket, ms: number, act: () => void): void => {
  const timer = setInterval(() => (socket.writable ? act() : clearInterval(timer)), ms);
  socket.once('close', () => clearInterval(timer));
};
/** Whoever comes and goes does it all the time: a few at a time. */
const FEW = 2;
const COMINGS = inCi(1_000, { elsewhere: 300 });
const ATTACKS: readonly (readonly [what: string, begin: (socket: Socket) => void, each: number])[] = [
  ['ask nothing', () => {}, EACH],
  [
    'are idle after one query',
    (socket) => {
      socket.resume();
      socket.write(framed(good));
    },
    EACH,
  ],
  [
    'write a byte at a time',
    (socket) => {
      let at = 0;
      every(socket, 400, () => socket.write(framed(good).subarray(at % 30, (at++ % 30) + 1)));
    },
    EACH,
  ],
  [
    'do not read their answers',
    (socket) => {
      socket.pause();
      for (let i = 0; i < 50; i++) socket.write(framed(large));
    },
    EACH,
  ],
  [
    'ask all the time',
    (socket) => {
      socket.write(Buffer.concat([framed(good), framed(good), framed(good)]));
      // Again with each piece of answers, and no faster than the one loop of tests, guard and server answers.
      socket.on('data', () => setTimeout(() => socket.writable && socket.write(framed(good)), 500));
    },
    EACH,
  ],
  [
    'come and go',
    (socket) => {
      socket.write(framed(good));
      setImmediate(() => socket.resetAndDestroy());
    },
    FEW,
  ],
  ['come and go without a word', (socket) => socket.destroy(), FEW],
  [
    'close their half and stay',
    (socket) => {
      socket.pause();
      socket.end(framed(large));
    },
    EACH,
  ],
  ['send what is no DNS', (socket) => socket.resume().write(Buffer.alloc(3000, 0x41)), EACH],
];

/** An answer on its way through the guard takes about so many turns of the event loop. */
const TURNS = 8;
const STEP_MS = 50;

/**
 * Client, guard, server and attackers share one loop: their time passes no faster than it gets on, so that a slow machine is no
 * fault of any of them. Returns what ends it.
 */
function timePassesWithTheLoop(): () => Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let isOver = false;
  const passing = (async () => {
    while (!isOver) {
      await pause(STEP_MS);
      for (let turn = 0; turn < TURNS; turn++) await turnOfLoop();
      vi.advanceTimersByTime(STEP_MS);
    }
  })();
  return async () => {
    isOver = true;
    await passing;
    vi.useRealTimers();
  };
}

describe('a thousand connections from ten addresses', () => {
  beforeEach(timePassesWithTheLoop);

  it.each(ATTACKS)(
    'that %s shut nobody out, and close no connection that is used',
    async (_, begin, each) => {
      const { target, plane } = await guarded(RULE, { tcpMaxQueries: UNCOUNTED });
      const active = await Promise.all(
        Array.from({ length: 5 }, async () => regular(await tcp(target, '127.0.3.2'))),
      );
      await until('they are answered', () => active.every(({ answered }) => answered() > 0));
      const attackers = crowd(target, begin, { each });
      await until('the attack is on', () => attackers.opened() >= (each === FEW ? COMINGS : 1000));
      for (let i = 0; i < 20; i++) {
        const user = await TcpClient.open(target, `127.0.3.${10 + (i % 4)}`);
        expect(await user.ask(query(`h${i}.${ZONE_NAME}`, QueryType.A, i))).toMatchObject({
          id: i,
          answers: 1,
        });
        user.close();
      }
      const before = active.map(({ answered }) => answered());
      await until('they go on', () => active.every(({ answered }, i) => answered() > (before[i] ?? 0) + 3));
      for (const { stop } of active) await stop();
      expect(plane.tcp.connections).toBeLessThanOrEqual(1000);
      expect(plane.tcp.serverConnections).toBeLessThanOrEqual(48);
    },
  );

  it('leave room for a client that opens many', async () => {
    const { target, plane } = await guarded(RULE, { tcpMaxQueries: UNCOUNTED });
    const attackers = crowd(target, (socket) => socket.resume().write(framed(good)));
    await until('the attack is on', () => attackers.opened() >= 1000 && plane.tcp.connections >= 900);
    const resolver: ReturnType<typeof regular>[] = [];
    for (let i = 0; i < 40; i++) {
      const client = await tcp(target, '127.0.3.1');
      expect(await client.ask(good)).toMatchObject({ rcode: RCODE.NOERROR });
      // All of them in use: on a slow machine an idle one would be over its time before the last is open.
      resolver.push(regular(client));
    }
    const before = resolver.map(({ answered }) => answered());
    await until('all go on', () => resolver.every(({ answered }, i) => answered() > (before[i] ?? 0)));
    for (const { stop } of resolver) await stop();
  });
});

describe('one address', () => {
  it('has at most a hundred connections, and a further one takes the place of its longest idle one', async () => {
    const { target, plane } = await guarded(RULE);
    // Side by side: on a slow machine the first would be over its time before the last is open.
    const clients = await Promise.all(Array.from({ length: 100 }, () => tcp(target, '127.0.3.1')));
    const ask = (asking: readonly TcpClient[]) => Promise.all(asking.map((client) => client.ask(good)));
    await ask(clients);
    expect(await ask(clients.filter((_, i) => i !== 1))).not.toContain(undefined);
    expect(await (await tcp(target, '127.0.3.1')).ask(good)).toBeDefined();
    await clients[1]?.ended();
    expect(await clients[0]?.ask(good)).toBeDefined();
    expect(plane.tcp.connections).toBe(100);
    expect(plane.tcp.counts.closed).toMatchObject({ gave_way: 1, no_place: 0 });
  });

  it('is refused a further one while all of its own wait for answers', async () => {
    const server = await recordingServer(() => undefined);
    atEnd(() => server.stop());
    const { target, plane } = await guarded(RULE, { servers: [server] });
    // Places at the server are fewer: who holds one for long loses it, and comes again until a hundred wait at once.
    crowd(target, (socket) => socket.write(framed(good)), { addresses: ['127.0.3.1'], each: 150 });
    await until('one is refused', () => plane.tcp.counts.closed.no_place > 0);
    expect(plane.tcp.connections).toBeLessThanOrEqual(100);
  });
});

/** Each waits for a limit of time: all at the same time, so that what they open is their own. */
describe.concurrent('a connection is closed', () => {
  const closedFor = async (
    reason: keyof Protected['plane']['tcp']['counts']['closed'],
    begin: (client: TcpClient) => void,
    options?: Parameters<typeof guardInFront>[1],
  ): Promise<TcpClient> => {
    const { target, plane, stop } = await guardInFront(RULE, options);
    const client = await TcpClient.open(target);
    try {
      begin(client);
      await until(`it is closed (${reason})`, () => plane.tcp.counts.closed[reason] === 1);
      expect(plane.tcp.connections).toBe(0);
      return client;
    } finally {
      client.close();
      await stop();
    }
  };

  it('when it asks nothing', async () => {
    await closedFor('no_query', () => {});
  });

  it('when its first message comes a byte at a time', async () => {
    await closedFor('no_query', ({ socket }) => {
      let at = 0;
      every(socket, 100, () => socket.write(framed(good).subarray(at, ++at)));
    });
  });

  it('when a later message comes a byte at a time', async () => {
    const long = framed(Buffer.concat([good, Buffer.alloc(3000)]));
    const client = await closedFor('slow_query', (asking) => {
      asking.send(good);
      let at = 0;
      every(asking.socket, 50, () => asking.socket.write(long.subarray(at, ++at)));
    });
    expect(client.answers).toHaveLength(1);
  });

  it('when it is idle', async () => {
    const client = await closedFor('idle', (asking) => asking.send(good));
    expect(client.answers).toHaveLength(1);
  });

  it('when no server answers', async () => {
    const silent = await recordingServer(() => undefined);
    await closedFor('no_answer', (asking) => asking.send(good), { servers: [silent] }).finally(() =>
      silent.stop(),
    );
  });
});

describe('a connection is ended', () => {
  it('when it does not take its answers, of which not many wait in memory', async () => {
    let sent = 0;
    const generous = await recordingServer((packet) => {
      sent += 60_000;
      return Buffer.concat([asAnswer(packet), Buffer.alloc(60_000)]);
    });
    atEnd(() => generous.stop());
    const { target, plane } = await guarded(RULE, { servers: [generous] });
    const { socket } = await tcp(target);
    socket.pause();
    every(socket, 1, () => socket.writableLength === 0 && socket.write(framed(good)));
    await until('it is cut', () => plane.tcp.counts.closed.not_reading === 1);
    // Most of it waits in the system's own buffers; the guard stopped reading for it.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect(plane.tcp.serverConnections).toBe(0);
  });

  it('when it has closed its half and has its answers', async () => {
    const { target, plane } = await guarded(RULE);
    const client = await tcp(target);
    client.socket.end(Buffer.concat([framed(large), framed(good)]));
    expect((await client.received(2)).map(({ id }) => id).sort()).toEqual([10, 9]);
    await client.ended();
    client.socket.end();
    await until('it is closed', () => plane.tcp.connections === 0);
  });
});

describe('connections to the servers behind', () => {
  beforeEach(timePassesWithTheLoop);

  it('are few, however many clients have asked and stay', async () => {
    let most = 0;
    const server = await recordingServer((packet) => {
      most = Math.max(most, server.connections);
      return asAnswer(packet);
    });
    atEnd(() => server.stop());
    const { target, plane } = await guarded(RULE, { servers: [server] });
    const clients: TcpClient[] = [];
    for (let i = 0; i < 300; i++) clients.push(await tcp(target, `127.0.3.${1 + (i % 4)}`));
    for (let round = 0; round < 3; round++)
      for (const answer of await Promise.all(clients.map((client) => client.ask(good))))
        expect(answer).toMatchObject({ id: 9 });
    expect(plane.tcp.connections).toBe(300);
    expect(plane.tcp.serverConnections).toBeLessThanOrEqual(48);
    // A connection that was given back may still be closing when the next one opens.
    expect(most).toBeLessThanOrEqual(96);
  });

  it('are shared fairly: who asks what no server answers keeps nobody else waiting', async () => {
    const slow = query(`slow.${ZONE_NAME}`, QueryType.A, 11);
    const server = await recordingServer((packet) =>
      packet.includes(Buffer.from('slow')) ? undefined : asAnswer(packet),
    );
    atEnd(() => server.stop());
    const { target, plane } = await guarded(RULE, { servers: [server] });
    const attackers = crowd(target, (socket) => socket.resume().write(framed(slow)), {
      addresses: ATTACKERS.slice(0, 3),
    });
    await until(
      'the servers are taken',
      () => attackers.opened() >= 200 && plane.tcp.serverConnections === 48,
    );
    for (let i = 0; i < 10; i++) {
      const user = await tcp(target, '127.0.3.1');
      expect(await user.ask(good)).toMatchObject({ id: 9 });
      user.close();
    }
  });

  it('are opened again when the server has closed them', async () => {
    const first = await recordingServer();
    const { target, plane } = await guarded(RULE, { servers: [first] });
    atEnd(() => first.stop());
    const client = await tcp(target);
    expect(await client.ask(good)).toBeDefined();
    await first.closeAll();
    await until('the guard has noticed', () => plane.tcp.serverConnections === 0);
    expect(await client.ask(good)).toBeDefined();
  });
});

it('answers of the guard itself never stand in the middle of a server answer', async () => {
  const server = await recordingServer((packet) => Buffer.concat([asAnswer(packet), Buffer.alloc(60_000)]));
  atEnd(() => server.stop());
  const { target } = await guarded(RULE, { servers: [server] });
  const client = await tcp(target);
  const axfr = query(ZONE_NAME, QueryType.AXFR, 12);
  for (let i = 0; i < 200; i++) {
    client.send(good, axfr);
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const answers = await client.received(400);
  expect(answers.filter(({ id, bytes }) => id === 9 && bytes.length > 60_000)).toHaveLength(200);
  expect(answers.filter(({ id, rcode }) => id === 12 && rcode === RCODE.REFUSED)).toHaveLength(200);
});

it('stops with connections of every kind open', async () => {
  const server = await recordingServer(() => undefined);
  atEnd(() => server.stop());
  const { target, plane, stop } = await guardInFront(RULE, { servers: [server] });
  const clients = await Promise.all(
    Array.from({ length: 80 }, (_, i) => tcp(target, `127.0.3.${1 + (i % 2)}`)),
  );
  for (const [i, client] of clients.entries()) if (i % 4 > 0) client.send(good);
  clients[1]?.socket.end();
  await until('they have asked', () => plane.tcp.counts.messages[0] === 60);
  await stop();
  for (const client of clients) await client.ended();
  expect(plane.tcp.connections).toBe(0);
  const [reset] = await once(connect(target.port, target.host), 'error');
  expect(reset).toMatchObject({ code: 'ECONNREFUSED' });
});
