import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turnOfLoop } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { sizeInSearch } from '../support/search.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, startGuarded } from './support/clients.ts';
import { query, RCODE, type Target } from './support/dnsClient.ts';
import { type GuardSetup, RULE, startGuardInFront, ZONE_NAME } from './support/guardInFront.ts';
import { asAnswer, startRecordingServer } from './support/recordingServer.ts';
import { framed, TcpClient } from './support/tcpClient.ts';

const good = query(`www.${ZONE_NAME}`, QueryType.A, 9);
/** Its answer has more than 2,000 bytes. */
const large = query(`big.${ZONE_NAME}`, QueryType.TXT, 10);
const ATTACKERS = Array.from({ length: 10 }, (_, i) => `127.0.2.${i + 1}`);
const EACH = 100;
/** More queries than one client can send during a test. */
const UNCOUNTED = 1e9;

/** Opens a connection of an attacker, which ignores errors and being closed. */
function attack(target: Target, localAddress: string, begin: (socket: Socket) => void): Socket {
  const socket = connect({ ...target, localAddress, allowHalfOpen: true });
  socket.on('error', () => {});
  socket.once('connect', () => begin(socket));
  return socket;
}

/**
 * The guard and the server accept one connection per iteration of the event loop, which they share with these
 * clients.
 */
const REOPEN_MS = 50;

/** Opens `each` connections from each address, and replaces closed ones until the test ends. */
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
      // An interval, because its time may pass with the event loop. Otherwise, more connections would arrive on a slow
      // machine than can be accepted, and new clients would wait for all of them.
      const timer = setInterval(() => {
        clearInterval(timer);
        add(address);
      }, REOPEN_MS);
    });
  };
  for (const address of addresses) for (let i = 0; i < each; i++) add(address);
  atEnd(() => {
    stopped = true;
    for (const socket of open) socket.destroy();
  });
  return { opened: () => opened, open: () => open.size };
}

/** Interval of a busy resolver. Without a pause, five such clients and their server would block the event loop. */
const ASK_MS = 20;

/** Sends queries over one connection until it is stopped; each must be answered. */
function regular(client: TcpClient): { answered: () => number; stop: () => Promise<void> } {
  let answered = 0;
  let stopped = false;
  const asking = (async () => {
    while (!stopped) {
      const answer = await client.ask(good);
      if (answer === undefined) throw new Error(`the connection was closed after ${answered} answers`);
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
/** Connections that are opened and closed at once, a few at a time. */
const FEW = 2;
const COMINGS = sizeInSearch(300, { ordinary: 100 });
const ATTACKS: readonly (readonly [what: string, begin: (socket: Socket) => void, each: number])[] = [
  ['send no query', () => {}, EACH],
  [
    'are idle after one query',
    (socket) => {
      socket.resume();
      socket.write(framed(good));
    },
    EACH,
  ],
  [
    'write one byte at a time',
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
    'send queries continuously',
    (socket) => {
      socket.write(Buffer.concat([framed(good), framed(good), framed(good)]));
      // The next query after each chunk of answers, at a rate that the event loop shared by tests, guard and server
      // can answer.
      socket.on('data', () => setTimeout(() => socket.writable && socket.write(framed(good)), 500));
    },
    EACH,
  ],
  [
    'are opened and reset after one query',
    (socket) => {
      socket.write(framed(good));
      setImmediate(() => socket.resetAndDestroy());
    },
    FEW,
  ],
  ['are opened and closed without a query', (socket) => socket.destroy(), FEW],
  [
    'close their sending side and stay open',
    (socket) => {
      socket.pause();
      socket.end(framed(large));
    },
    EACH,
  ],
  ['send bytes that are not DNS', (socket) => socket.resume().write(Buffer.alloc(3000, 0x41)), EACH],
];

/** Event-loop iterations that an answer through the guard needs, approximately. */
const TURNS = 8;
const STEP_MS = 50;

/**
 * Client, guard, server and attackers share one event loop. Fake time passes only as fast as the loop runs, so that a
 * slow machine causes no timeouts. Returns a function that ends it.
 */
function timePassesWithTheLoop(): () => Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let isFinished = false;
  const passing = (async () => {
    while (!isFinished) {
      await pause(STEP_MS);
      for (let turn = 0; turn < TURNS; turn++) await turnOfLoop();
      vi.advanceTimersByTime(STEP_MS);
    }
  })();
  return async () => {
    isFinished = true;
    await passing;
    vi.useRealTimers();
  };
}

describe('a thousand connections from ten addresses', () => {
  beforeEach(timePassesWithTheLoop);

  it.each(ATTACKS)(
    'that %s neither block new clients nor close active connections',
    async (_, begin, each) => {
      const { target, plane } = await startGuarded(RULE, { tcpMaxQueries: UNCOUNTED });
      const active = await Promise.all(
        Array.from({ length: 5 }, async () => regular(await openTcpClient(target, '127.0.3.2'))),
      );
      await until('the active connections to be answered', () =>
        active.every(({ answered }) => answered() > 0),
      );
      const attackers = crowd(target, begin, { each });
      await until(
        'the attack to be established',
        () => attackers.opened() >= (each === FEW ? COMINGS : 1000),
      );
      for (let i = 0; i < 20; i++) {
        const user = await TcpClient.open(target, `127.0.3.${10 + (i % 4)}`);
        expect(await user.ask(query(`h${i}.${ZONE_NAME}`, QueryType.A, i))).toMatchObject({
          id: i,
          answers: 1,
        });
        user.close();
      }
      const before = active.map(({ answered }) => answered());
      await until('the active connections to be answered again', () =>
        active.every(({ answered }, i) => answered() > (before[i] ?? 0) + 3),
      );
      for (const { stop } of active) await stop();
      expect(plane.tcp.connections).toBeLessThanOrEqual(1000);
      expect(plane.tcp.serverConnections).toBeLessThanOrEqual(48);
    },
  );

  it('leave slots for a client that opens many connections', async () => {
    const { target, plane } = await startGuarded(RULE, { tcpMaxQueries: UNCOUNTED });
    const attackers = crowd(target, (socket) => socket.resume().write(framed(good)));
    await until(
      'the attack to be established',
      () => attackers.opened() >= 1000 && plane.tcp.connections >= 900,
    );
    const resolver: ReturnType<typeof regular>[] = [];
    for (let i = 0; i < 40; i++) {
      const client = await openTcpClient(target, '127.0.3.1');
      expect(await client.ask(good)).toMatchObject({ rcode: RCODE.NOERROR });
      // All of them are active, because on a slow machine an idle one would time out before the last is open.
      resolver.push(regular(client));
    }
    const before = resolver.map(({ answered }) => answered());
    await until('all connections of the resolver to be answered again', () =>
      resolver.every(({ answered }, i) => answered() > (before[i] ?? 0)),
    );
    for (const { stop } of resolver) await stop();
  });
});

describe('one address', () => {
  beforeEach(timePassesWithTheLoop);

  it('has at most half of the connections, and another one replaces its longest idle one', async () => {
    const { target, plane } = await startGuarded(RULE);
    const clients = await Promise.all(Array.from({ length: 500 }, () => openTcpClient(target, '127.0.3.1')));
    const ask = (asking: readonly TcpClient[]) => Promise.all(asking.map((client) => client.ask(good)));
    await ask(clients);
    expect(await ask(clients.filter((_, i) => i !== 1))).not.toContain(undefined);
    expect(await (await openTcpClient(target, '127.0.3.1')).ask(good)).toBeDefined();
    await clients[1]?.ended();
    expect(await clients[0]?.ask(good)).toBeDefined();
    expect(plane.tcp.connections).toBe(500);
    expect(plane.tcp.counts.closed).toMatchObject({ replaced: 1, no_slot: 0 });
  });
});

/** Each test waits for a timeout, so they run concurrently; each has its own guard. */
describe.concurrent('a connection is closed by a timeout', () => {
  const closedFor = async (
    reason: keyof GuardSetup['plane']['tcp']['counts']['closed'],
    begin: (client: TcpClient) => void,
    options?: Parameters<typeof startGuardInFront>[1],
  ): Promise<TcpClient> => {
    const { target, plane, stop } = await startGuardInFront(RULE, options);
    const client = await TcpClient.open(target);
    try {
      begin(client);
      await until(`the connection to be closed (${reason})`, () => plane.tcp.counts.closed[reason] === 1);
      expect(plane.tcp.connections).toBe(0);
      return client;
    } finally {
      client.close();
      await stop();
    }
  };

  it('if it sends no query', async () => {
    await closedFor('no_query', () => {});
  });

  it('if its first message arrives one byte at a time', async () => {
    await closedFor('no_query', ({ socket }) => {
      let at = 0;
      every(socket, 100, () => socket.write(framed(good).subarray(at, ++at)));
    });
  });

  it('if a later message arrives one byte at a time', async () => {
    const long = framed(Buffer.concat([good, Buffer.alloc(3000)]));
    const client = await closedFor('slow_query', (asking) => {
      asking.send(good);
      let at = 0;
      every(asking.socket, 50, () => asking.socket.write(long.subarray(at, ++at)));
    });
    expect(client.answers).toHaveLength(1);
  });

  it('if it is idle', async () => {
    const client = await closedFor('idle', (asking) => asking.send(good));
    expect(client.answers).toHaveLength(1);
  });
});

describe('a connection is closed', () => {
  it('if the client does not read its answers, of which only a few are buffered', async () => {
    let sent = 0;
    const generous = await startRecordingServer((packet) => {
      sent += 60_000;
      return Buffer.concat([asAnswer(packet), Buffer.alloc(60_000)]);
    });
    atEnd(() => generous.stop());
    const { target, plane } = await startGuarded(RULE, { servers: [generous] });
    const { socket } = await openTcpClient(target);
    socket.pause();
    every(socket, 1, () => socket.writableLength === 0 && socket.write(framed(good)));
    await until(
      'the connection to be closed as not reading',
      () => plane.tcp.counts.closed.not_reading === 1,
    );
    // Most of it is in the socket buffers of the system; the guard stopped reading from the server.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect(plane.tcp.serverConnections).toBe(0);
  });

  it('if the client has closed its sending side and received its answers', async () => {
    const { target, plane } = await startGuarded(RULE);
    const client = await openTcpClient(target);
    client.socket.end(Buffer.concat([framed(large), framed(good)]));
    expect((await client.received(2)).map(({ id }) => id).sort()).toEqual([10, 9]);
    await client.ended();
    client.socket.end();
    await until('the connection to be closed', () => plane.tcp.connections === 0);
  });
});

describe('connections to the upstream servers', () => {
  beforeEach(timePassesWithTheLoop);

  it('stay few, however many clients are connected', async () => {
    let most = 0;
    const server = await startRecordingServer((packet) => {
      most = Math.max(most, server.connections);
      return asAnswer(packet);
    });
    atEnd(() => server.stop());
    const { target, plane } = await startGuarded(RULE, { servers: [server] });
    const clients: TcpClient[] = [];
    for (let i = 0; i < 300; i++) clients.push(await openTcpClient(target, `127.0.3.${1 + (i % 4)}`));
    for (let round = 0; round < 3; round++)
      for (const answer of await Promise.all(clients.map((client) => client.ask(good))))
        expect(answer).toMatchObject({ id: 9 });
    expect(plane.tcp.connections).toBe(300);
    expect(plane.tcp.serverConnections).toBeLessThanOrEqual(48);
    // A released connection may still be closing when the next one opens.
    expect(most).toBeLessThanOrEqual(96);
  });

  it('are shared fairly: clients whose queries no server answers do not delay others', async () => {
    const slow = query(`slow.${ZONE_NAME}`, QueryType.A, 11);
    const server = await startRecordingServer((packet) =>
      packet.includes(Buffer.from('slow')) ? undefined : asAnswer(packet),
    );
    atEnd(() => server.stop());
    const { target, plane } = await startGuarded(RULE, { servers: [server] });
    const attackers = crowd(target, (socket) => socket.resume().write(framed(slow)), {
      addresses: ATTACKERS.slice(0, 3),
    });
    await until(
      'each attacker to use a quarter of the connections to the server',
      () => attackers.opened() >= 200 && plane.tcp.serverConnections === 36,
    );
    for (let i = 0; i < 10; i++) {
      const user = await openTcpClient(target, '127.0.3.1');
      expect(await user.ask(good)).toMatchObject({ id: 9 });
      user.close();
    }
  });

  it('are opened again after the server has closed them', async () => {
    const first = await startRecordingServer();
    const { target, plane } = await startGuarded(RULE, { servers: [first] });
    atEnd(() => first.stop());
    const client = await openTcpClient(target);
    expect(await client.ask(good)).toBeDefined();
    await first.closeAll();
    await until('the guard to notice the closed connections', () => plane.tcp.serverConnections === 0);
    expect(await client.ask(good)).toBeDefined();
  });
});

it("the guard's own answers are never inserted into an answer of a server", async () => {
  const server = await startRecordingServer((packet) =>
    Buffer.concat([asAnswer(packet), Buffer.alloc(60_000)]),
  );
  atEnd(() => server.stop());
  const { target } = await startGuarded(RULE, { servers: [server] });
  const client = await openTcpClient(target);
  const axfr = query(ZONE_NAME, QueryType.AXFR, 12);
  for (let i = 0; i < 200; i++) {
    client.send(good, axfr);
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const answers = await client.received(400);
  expect(answers.filter(({ id, bytes }) => id === 9 && bytes.length > 60_000)).toHaveLength(200);
  expect(answers.filter(({ id, rcode }) => id === 12 && rcode === RCODE.REFUSED)).toHaveLength(200);
});

it('the guard stops while connections of every kind are open', async () => {
  const server = await startRecordingServer(() => undefined);
  atEnd(() => server.stop());
  const { target, plane, stop } = await startGuardInFront(RULE, { servers: [server] });
  const clients = await Promise.all(
    Array.from({ length: 80 }, (_, i) => openTcpClient(target, `127.0.3.${1 + (i % 2)}`)),
  );
  for (const [i, client] of clients.entries()) if (i % 4 > 0) client.send(good);
  clients[1]?.socket.end();
  await until('the queries to be received', () => plane.tcp.counts.messages[0] === 60);
  await stop();
  for (const client of clients) await client.ended();
  expect(plane.tcp.connections).toBe(0);
  const [reset] = await once(connect(target.port, target.host), 'error');
  expect(reset).toMatchObject({ code: 'ECONNREFUSED' });
});
