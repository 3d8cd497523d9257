import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { QueryType } from '../protocol/index.ts';
import { serialOf, transferZone } from './zoneTransfer.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serving(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => server.close(),
    () => open.forEach((socket) => void socket.destroy()),
  );
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { server: { host: '127.0.0.1', port }, open };
}

/** A record of the root with zeros as data. */
const record = (type: number, bytes: number): Buffer => {
  const made = Buffer.alloc(11 + bytes);
  made.writeUInt16BE(type, 1);
  made.writeUInt16BE(1, 3);
  made.writeUInt16BE(bytes, 9);
  return made;
};

/** An answer to a query over TCP, without a question. */
const message = (query: Buffer, records: readonly Buffer[]): Buffer => {
  const head = Buffer.alloc(14);
  query.copy(head, 2, 2, 4);
  head.writeUInt16BE(0x8400, 4);
  head.writeUInt16BE(records.length, 8);
  const made = Buffer.concat([head, ...records]);
  made.writeUInt16BE(made.length - 2);
  return made;
};

/** Resolves when the socket is closed, with or without a reset. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

it('a transfer from a server that sends single bytes fails after the maximum duration', async () => {
  const { server, open } = await serving((socket) => {
    const timer = setInterval(() => socket.write(Uint8Array.of(0xff)), 20);
    socket.on('close', () => clearInterval(timer));
  });
  const bytes: number[] = [];
  const transfer = async (maxMs: number) => {
    const onProgress = () => bytes.push(1);
    for await (const _ of transferZone('example.test', server, { maxMs, onProgress }))
      throw new Error('none');
  };
  // On a busy machine, the first of these durations may be too short for a single byte.
  for (let maxMs = 300; bytes.length === 0; maxMs *= 2)
    await expect(transfer(maxMs)).rejects.toThrow(`timed out after ${maxMs / 1000} seconds`);
  for (const socket of open) await closed(socket);
});

it('a transfer reads a zone of 24 MB from a server that does not wait for the guard', async () => {
  let isSent = false;
  const { server } = await serving((socket) => {
    socket.once('data', (query) => {
      const soa = message(query, [record(QueryType.SOA, 22)]);
      socket.write(soa);
      // The buffers of the kernel store a few megabytes.
      const large = message(query, [record(QueryType.TXT, 60_000)]);
      for (let i = 0; i < 400; i++) socket.write(large);
      socket.write(soa, () => {
        isSent = true;
      });
    });
  });
  let records = 0;
  for await (const _ of transferZone('example.test', server, { idleMs: 500 })) {
    records++;
    // The server sends all of the zone while the guard is still busy with its first name.
    if (records > 1) continue;
    await until('the server has sent the zone', () => isSent);
    await delay(700);
  }
  expect(records).toBe(401);
});

it('a transfer of a larger zone is read all the time while its names are added', async () => {
  let sent = 0;
  const { server } = await serving((socket) => {
    socket.once('data', (query) => {
      socket.write(message(query, [record(QueryType.SOA, 22)]));
      const large = message(query, [record(QueryType.TXT, 60_000)]);
      const next = () => {
        if (++sent < 2000) socket.write(large, next);
        else socket.write(message(query, [record(QueryType.SOA, 22)]));
      };
      next();
    });
  });
  /** Returns the number of sent messages when all buffers are full. If it is too low, the test is less strict. */
  const whenFull = async () => {
    for (let before = -1; before !== sent; await delay(100)) before = sent;
    return sent;
  };
  let records = 0;
  let first = 0;
  for await (const _ of transferZone('example.test', server)) {
    records++;
    if (records === 20 || records === 220) first = await whenFull();
    // The server sends as much as the guard has used.
    if (records === 420) await until('the guard has read more', () => sent > first + 100);
  }
  expect(records).toBe(2000);
});

it('a transfer fails if the server sends no more data', async () => {
  const { server } = await serving((socket) => {
    socket.once('data', (query) => socket.write(message(query, [record(QueryType.SOA, 22)])));
  });
  const transfer = async () => {
    for await (const _ of transferZone('example.test', server, { idleMs: 50 }));
  };
  await expect(transfer()).rejects.toThrow('no data for 0.05 seconds');
});

it('a transfer is aborted immediately by its signal, even before it starts', async () => {
  const { server, open } = await serving(() => abort.abort());
  const abort = new AbortController();
  const { signal } = abort;
  await expect(serialOf('example.test', server, { signal })).rejects.toThrow('aborted');
  await expect(serialOf('example.test', server, { signal })).rejects.toThrow('aborted');
  for (const socket of open) await closed(socket);
});
