import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HANG_MS } from '../../../../../test/support/hang.ts';
import { nameToWire, QueryType, queryPacket, questionOf } from '../../../protocol/index.ts';
import { LocalResponse } from '../localResponses.ts';
import { ServerSlots } from './serverSlots.ts';
import { MAX_PIPELINED, MAX_UNSENT_BYTES, TcpConnection, type TcpShared } from './tcpConnection.ts';
import { type CloseReason, TcpCounts } from './tcpCounts.ts';

const AXFR = 252;
const SERVFAIL = 2;
const REFUSED = 5;
const REFUSED_NAME = 'refused.test';
const KEY = { high: 1, low: 2 };
const refused = questionOf(REFUSED_NAME, QueryType.A, KEY);

const sockets: Socket[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

function framed(packet: Uint8Array): Buffer {
  const frame = Buffer.alloc(2 + packet.length);
  frame.writeUInt16BE(packet.length);
  frame.set(packet, 2);
  return frame;
}
/** Returns a query with its length prefix. */
function query(name = 'www.example.test', id = 1, type: number = QueryType.A): Buffer {
  const packet = Buffer.from(queryPacket(nameToWire(name), type));
  packet.writeUInt16BE(id);
  return framed(packet);
}
function answerTo(queried: Buffer, padding = 0): Buffer {
  const packet = Buffer.concat([queried.subarray(2), Buffer.alloc(padding)]);
  packet[2] = 0x80 | (packet[2] ?? 0);
  return framed(packet);
}
/** Returns ID and response code of each answer. */
function readAnswers(bytes: Buffer): [id: number, rcode: number][] {
  const answers: [number, number][] = [];
  for (let at = 0; at + 2 <= bytes.length; at += 2 + bytes.readUInt16BE(at))
    answers.push([bytes.readUInt16BE(at + 2), (bytes[at + 5] ?? 0) & 15]);
  return answers;
}

interface Setup {
  readonly slots?: number;
  readonly maxQueries?: number;
  readonly maySendServfail?: boolean;
  readonly mayTransfer?: boolean;
  readonly hasServer?: boolean;
  /** Whether work waits for the client's turn, as if other clients were served. */
  readonly defersTurns?: boolean;
}

/** A connection of a client to the guard, and the guard's connection to a DNS server. */
async function setUp({
  slots = 10,
  maxQueries = 1000,
  maySendServfail = true,
  mayTransfer = true,
  hasServer = true,
  defersTurns = false,
}: Setup = {}) {
  const upstream: { socket?: Socket; received: Buffer } = { received: Buffer.alloc(0) };
  const dnsServer = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    upstream.socket = socket;
    socket.on('data', (chunk) => (upstream.received = Buffer.concat([upstream.received, chunk])));
  });
  const port = await listening(dnsServer);
  const seen = {
    closed: [] as CloseReason[],
    notes: [] as boolean[],
    faults: [] as unknown[],
    noAnswer: 0,
    pauses: 0,
    answers: 0,
  };
  const state = { clockMs: 1000, isInUse: true };
  const turns: (() => void)[] = [];
  const shared: TcpShared = {
    get clockMs() {
      return state.clockMs;
    },
    counts: new TcpCounts(),
    serverSlots: new ServerSlots<TcpConnection>(slots),
    key: KEY,
    maxQueries,
    inTurn: (_, work) => (defersTurns ? void turns.push(work) : work()),
    refusal: (question) => (question.hashLow === refused.hashLow ? LocalResponse.limited : undefined),
    isAnyInUse: () => state.isInUse,
    maySendServfail: () => maySendServfail,
    onNoAnswer: () => seen.noAnswer++,
    servers: () => (hasServer ? [{ host: '127.0.0.1', port }] : []),
    isInUse: () => state.isInUse,
    onAnswer: () => seen.answers++,
    beginTransfer: () => mayTransfer,
    note: (_, isBusy) => seen.notes.push(isBusy),
    closed: (_, reason) => seen.closed.push(reason),
    failed: (error) => seen.faults.push(error),
  };
  const guard = createServer({ allowHalfOpen: true, highWaterMark: MAX_UNSENT_BYTES });
  const guardPort = await listening(guard);
  const client = connect(guardPort, '127.0.0.1').on('error', () => undefined);
  const [socket] = (await once(guard, 'connection')) as [Socket];
  sockets.push(client, socket);
  socket.on('pause', () => seen.pauses++);
  const connection = new TcpConnection({ socket, address: '127.0.0.1', client: '127.0.0.1' }, shared);
  const received: { bytes: Buffer; ended: boolean } = { bytes: Buffer.alloc(0), ended: false };
  client.on('data', (chunk) => (received.bytes = Buffer.concat([received.bytes, chunk])));
  client.on('end', () => (received.ended = true));
  const until = (condition: () => unknown) => expect.poll(condition, { timeout: HANG_MS }).toBeTruthy();
  return {
    client,
    socket,
    connection,
    upstream,
    seen,
    state,
    shared,
    turns,
    received,
    until,
    answers: () => readAnswers(received.bytes),
    /** Sends queries that the DNS server receives and does not answer yet. */
    async pending(...queries: readonly Buffer[]) {
      const before = upstream.received.length;
      const bytes = Buffer.concat(queries);
      client.write(bytes);
      await until(() => upstream.received.length === before + bytes.length);
      await until(() => !socket.isPaused() || queries.length >= MAX_PIPELINED);
    },
  };
}
describe('the guard stops reading from a client, each reason alone,', () => {
  it('while the connection to the DNS server is not established', async () => {
    const { client, seen, socket, upstream, until } = await setUp();
    client.write(query());
    await until(() => upstream.received.length > 0);
    expect(seen.pauses).toBe(1);
    await until(() => !socket.isPaused());
  });

  it('while it has no slot for a connection to the DNS server', async () => {
    const { client, socket, connection, until } = await setUp({ slots: 0 });
    client.write(query());
    await until(() => connection.isBusy);
    await until(() => socket.isPaused());
  });

  it('while it waits for queries before it closes the connection in favour of another', async () => {
    const { pending, socket, connection, upstream, seen, until } = await setUp();
    await pending(query());
    connection.closeWhenIdle();
    expect(socket.isPaused()).toBe(true);
    upstream.socket?.write(answerTo(query()));
    await until(() => seen.answers === 1);
    await until(() => socket.writableEnded);
  });

  it('while it waits for queries before it closes because of a message that is not a query', async () => {
    const { pending, client, socket, received, upstream, until } = await setUp();
    await pending(query());
    client.write(answerTo(query('www.example.test', 2)));
    await until(() => socket.isPaused());
    upstream.socket?.write(answerTo(query()));
    await until(() => received.ended);
    expect(readAnswers(received.bytes)).toEqual([[1, 0]]);
  });

  it('while it waits for queries before it releases the slot', async () => {
    const { pending, socket, connection, upstream, shared, until } = await setUp();
    await pending(query());
    connection.requestRelease();
    expect(socket.isPaused()).toBe(true);
    upstream.socket?.write(answerTo(query()));
    await until(() => shared.serverSlots.used === 0);
    await until(() => !socket.isPaused());
  });

  it('while its own answer waits for the rest of an answer of the DNS server', async () => {
    const { pending, client, socket, upstream, received, answers, until } = await setUp();
    await pending(query('a.test', 1));
    const answer = answerTo(query('a.test', 1), 100);
    upstream.socket?.write(answer.subarray(0, 40));
    await until(() => received.bytes.length === 40);
    client.write(query(REFUSED_NAME, 2));
    await until(() => socket.isPaused());
    upstream.socket?.write(answer.subarray(40));
    await until(() => answers().length === 2);
    expect(answers()).toEqual([
      [1, 0],
      [2, REFUSED],
    ]);
    await until(() => !socket.isPaused());
  });

  it('at 100 unanswered queries', async () => {
    const { pending, client, socket, upstream, until } = await setUp();
    const queries = Array.from({ length: MAX_PIPELINED }, (_, id) => query('a.test', id));
    await pending(...queries.slice(1));
    expect(socket.isPaused()).toBe(false);
    client.write(queries[0] ?? '');
    await until(() => socket.isPaused());
    upstream.socket?.write(answerTo(query('a.test', 5)));
    await until(() => !socket.isPaused());
  });

  it('while received queries wait for the turn of the client', async () => {
    const { client, socket, turns, answers, until } = await setUp({ defersTurns: true });
    const count = 200;
    client.write(Buffer.concat(Array.from({ length: count }, (_, id) => query(REFUSED_NAME, id))));
    let parts = 0;
    await until(() => turns.length > 0);
    expect(socket.isPaused()).toBe(true);
    await until(() => {
      for (let turn = turns.shift(); turn !== undefined; turn = turns.shift(), parts++) turn();
      return answers().length === count;
    });
    expect(parts).toBeGreaterThan(2);
    expect(answers().map(([id]) => id)).toEqual(Array.from({ length: count }, (_, id) => id));
    await until(() => !socket.isPaused());
  });

  it('while answers wait for the turn of the client, and then sends them, although the DNS server has closed', async () => {
    const { client, connection, state, upstream, turns, answers, seen, until } = await setUp({
      defersTurns: true,
    });
    const takeTurn = (): void => turns.shift()?.();
    client.write(Buffer.concat([query('one.test', 1), query('two.test', 2)]));
    await until(() => turns.length > 0);
    takeTurn();
    await until(() => upstream.received.length > 0);
    upstream.socket?.end(
      Buffer.concat([answerTo(query('one.test', 1), 9_000), answerTo(query('two.test', 2))]),
    );
    await until(() => turns.length > 0);
    for (; state.clockMs < 20_000; state.clockMs += 500) connection.enforceTimeouts();
    expect(answers()).toEqual([]);
    await until(() => {
      takeTurn();
      return seen.answers === 2;
    });
    await until(() => answers().length === 2);
    expect(seen.closed).toEqual([]);
  });

  it('while the client does not read; the guard then also stops reading from the DNS server', async () => {
    const { client, socket, upstream, pending, received, until } = await setUp();
    await pending(query('example.test', 1, AXFR));
    client.pause();
    const answer = answerTo(query('example.test', 1, AXFR), 60_000);
    let sent = 0;
    await until(() => {
      for (let i = 0; i < 20 && !upstream.socket?.writableNeedDrain; i++, sent++)
        upstream.socket?.write(answer);
      return socket.isPaused() && upstream.socket?.writableNeedDrain;
    });
    expect(socket.writableLength).toBeLessThan(MAX_UNSENT_BYTES + 128 * 1024);
    client.resume();
    await until(() => received.bytes.length >= sent * answer.length);
    await until(() => !socket.isPaused());
  });
});

describe('a query', () => {
  it('that is limited is answered REFUSED, and one with a bad opcode NOTIMP', async () => {
    const { client, answers, until, seen } = await setUp();
    const status = query('a.test', 3);
    status[4] = 2 << 3;
    client.write(Buffer.concat([query(REFUSED_NAME, 2), status]));
    await until(() => answers().length === 2);
    expect([answers(), seen.notes]).toEqual([
      [
        [2, REFUSED],
        [3, 4],
      ],
      [],
    ]);
  });

  it('that no server answers in time is answered SERVFAIL, and the connection stays open', async () => {
    const { pending, connection, state, answers, seen, socket, until } = await setUp();
    await pending(query('a.test', 1), query('b.test', 2));
    state.clockMs += 4999;
    connection.enforceTimeouts();
    expect(seen.noAnswer).toBe(0);
    state.clockMs += 1;
    connection.enforceTimeouts();
    await until(() => answers().length === 2);
    expect(answers()).toEqual([
      [1, SERVFAIL],
      [2, SERVFAIL],
    ]);
    expect([seen.noAnswer, connection.isBusy, socket.writableEnded]).toEqual([1, false, false]);
  });

  it('is answered SERVFAIL at once if no server can be reached', async () => {
    const { client, answers, until } = await setUp({ hasServer: false });
    client.write(query('a.test', 1));
    await until(() => answers().length === 1);
    expect(answers()).toEqual([[1, SERVFAIL]]);
  });

  it('without an answer ends the connection if too many SERVFAIL answers were sent', async () => {
    const { pending, connection, state, answers, received, until } = await setUp({ maySendServfail: false });
    await pending(query());
    state.clockMs += 5000;
    connection.enforceTimeouts();
    await until(() => received.ended);
    expect(answers()).toEqual([]);
  });

  it('is the last one at the maximum number of queries', async () => {
    const { client, upstream, answers, received, until } = await setUp({ maxQueries: 2 });
    client.write(Buffer.concat([1, 2, 3].map((id) => query('a.test', id))));
    await until(() => upstream.received.length >= 2 * query('a.test').length);
    upstream.socket?.write(Buffer.concat([1, 2].map((id) => answerTo(query('a.test', id)))));
    await until(() => received.ended);
    expect(answers().map(([id]) => id)).toEqual([1, 2]);
    expect(upstream.received.length).toBe(2 * query('a.test').length);
  });

  it('gets no answer of a server that sends more answers than it received queries', async () => {
    const { pending, upstream, received, until } = await setUp();
    await pending(query());
    upstream.socket?.write(Buffer.concat([answerTo(query()), answerTo(query())]));
    await until(() => received.ended);
  });
});

describe('a connection is closed', () => {
  /** Returns why the connection was closed, after a check when `ms` have passed. */
  async function closedAfter(
    ms: number,
    prepare: (known: Awaited<ReturnType<typeof setUp>>) => Promise<void> | void,
  ) {
    const known = await setUp();
    await prepare(known);
    known.state.clockMs += ms;
    known.connection.enforceTimeouts();
    known.client.end();
    if (known.socket.destroyed || known.socket.writableEnded)
      await known.until(() => known.seen.closed.length > 0);
    return known.seen.closed[0];
  }
  const answered = async ({ pending, upstream, seen, until }: Awaited<ReturnType<typeof setUp>>) => {
    await pending(query());
    upstream.socket?.write(answerTo(query()));
    await until(() => seen.answers === 1);
  };

  it('if its client sends no query for two seconds', async () => {
    expect(await closedAfter(2000, () => {})).toBeUndefined();
    expect(await closedAfter(2001, () => {})).toBe('no_query');
  });

  it('if its client needs two seconds for a message', async () => {
    const half = async (known: Awaited<ReturnType<typeof setUp>>) => {
      await answered(known);
      const before = known.socket.bytesRead;
      known.client.write(query().subarray(0, 9));
      await known.until(() => known.socket.bytesRead > before);
    };
    expect(await closedAfter(2000, half)).toBeUndefined();
    expect(await closedAfter(2001, half)).toBe('slow_query');
  });

  it('if it is idle for ten seconds', async () => {
    expect(await closedAfter(10_000, answered)).toBeUndefined();
    expect(await closedAfter(10_001, answered)).toBe('idle');
  });

  it('in favour of another at once if it is idle', async () => {
    const known = await setUp();
    await answered(known);
    known.connection.closeWhenIdle();
    await known.until(() => known.seen.closed.length > 0);
    expect(known.seen.closed).toEqual(['replaced']);
  });

  it('if it does not release its slot within a second after another needs it', async () => {
    const busy = async ({ pending, connection }: Awaited<ReturnType<typeof setUp>>) => {
      await pending(query());
      connection.requestRelease();
    };
    expect(await closedAfter(1000, busy)).toBeUndefined();
    expect(await closedAfter(1001, busy)).toBe('no_answer');
  });

  it('when its client closes it and all queries are answered', async () => {
    const { pending, client, upstream, answers, seen, until } = await setUp();
    await pending(query());
    client.end();
    upstream.socket?.write(answerTo(query()));
    await until(() => seen.closed.length > 0);
    expect([seen.closed, answers()]).toEqual([['client'], [[1, 0]]]);
  });

  it('if the DNS server closes its connection while a query is pending, but not while it is idle', async () => {
    const idle = await setUp();
    await answered(idle);
    idle.upstream.socket?.destroy();
    await idle.until(() => idle.shared.serverSlots.used === 0);
    expect(idle.socket.writableEnded).toBe(false);
    const busy = await setUp();
    await busy.pending(query());
    busy.upstream.socket?.destroy();
    await busy.until(() => busy.received.ended);
    expect(busy.answers()).toEqual([]);
  });
});

it('a zone transfer that is not allowed is answered REFUSED, and is not forwarded', async () => {
  const { client, answers, upstream, until } = await setUp({ mayTransfer: false });
  client.write(query('example.test', 1, AXFR));
  await until(() => answers().length === 1);
  expect([answers(), upstream.received.length]).toEqual([[[1, REFUSED]], 0]);
});
