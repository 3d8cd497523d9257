import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { askTcp, query, type Target } from './support/dnsClient.ts';
import { atEnd } from './support/ends.ts';
import { guarded, tcp, udp } from './support/opened.ts';
import { noKnot, startWhoamiKnot, WHOAMI_ZONE } from './support/realKnot.ts';
import { asAnswer } from './support/recordingServer.ts';
import { framed } from './support/tcpClient.ts';

const CLIENTS = ['127.0.0.1', '127.0.77.9'];

/** The address in the only record of an answer. */
const lastOctets = (bytes: Buffer): string => [...bytes.subarray(-4)].join('.');

it('Knot is told who asks over UDP, and not where that is off', async (ctx) => {
  if (noKnot) return ctx.skip(noKnot);
  const knot = await startWhoamiKnot();
  atEnd(() => knot.stop());
  const seen = async (proxyProtocol: 'udp' | undefined): Promise<string[]> => {
    const { target, plane } = await guarded(undefined, {
      servers: [{ ...knot, proxyProtocol }],
      probeName: WHOAMI_ZONE,
    });
    const addresses: string[] = [];
    for (const host of CLIENTS) {
      const { bytes } = await (await udp(host)).ask(query(WHOAMI_ZONE), target);
      addresses.push(lastOctets(bytes));
    }
    // Over TCP, where it takes no header, it is asked without.
    const [overTcp] = await askTcp([query(WHOAMI_ZONE)], target);
    expect(overTcp).toMatchObject({ answers: 1 });
    expect(plane.servers[0]?.up).toBe(true);
    return addresses;
  };
  expect(await seen('udp')).toEqual(CLIENTS);
  expect(await seen(undefined)).toEqual(['127.0.0.1', '127.0.0.1']);
});

it('Knot answers probes that say that the guard itself asks', async (ctx) => {
  if (noKnot) return ctx.skip(noKnot);
  const knot = await startWhoamiKnot();
  atEnd(() => knot.stop());
  // Of two servers each is probed, whether anybody asks or not; nobody listens at the other.
  const { plane } = await guarded(undefined, {
    servers: [
      { ...knot, proxyProtocol: 'udp' },
      { host: '127.0.0.1', port: 9, proxyProtocol: 'udp' },
    ],
    probeName: WHOAMI_ZONE,
  });
  await until('the other is left out', () => plane.servers[1]?.up === false);
  expect(plane.servers[0]?.up).toBe(true);
});

/** A server that takes the header, as its specification says, and keeps what it was told. */
async function proxiedServer(): Promise<Target & { readonly told: string[] }> {
  const told: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    let pending = Buffer.alloc(0);
    let hasHeader = false;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      if (!hasHeader) {
        if (pending.length < 16 || pending.length < 16 + pending.readUInt16BE(14)) return;
        hasHeader = true;
        const end = 16 + pending.readUInt16BE(14);
        told.push(readHeader(pending.subarray(0, end)));
        pending = pending.subarray(end);
      }
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        socket.write(framed(asAnswer(Buffer.from(pending.subarray(2, end)))));
        pending = pending.subarray(end);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return { host: '127.0.0.1', port: address.port, told };
}

function readHeader(header: Buffer): string {
  expect(header.subarray(0, 12).toString('latin1')).toBe('\r\n\r\n\0\r\nQUIT\n');
  expect([header[12], header[13], header.readUInt16BE(14)]).toEqual([0x21, 0x11, 12]);
  const address = (at: number) => [...header.subarray(at, at + 4)].join('.');
  return `${address(16)}:${header.readUInt16BE(24)} to ${address(20)}:${header.readUInt16BE(26)}`;
}

it('a server is told once for each connection who asks over TCP, and its answers come back', async () => {
  const server = await proxiedServer();
  const { target } = await guarded(undefined, {
    servers: [{ host: server.host, port: server.port, proxyProtocol: 'udp and tcp' }],
  });
  for (const host of CLIENTS) {
    const client = await tcp(target, host);
    const { port } = client.socket.address() as { port: number };
    client.send(query('www.example.test', QueryType.A, 7), query('h1.example.test', QueryType.A, 8));
    expect((await client.received(2)).map(({ id }) => id)).toEqual([7, 8]);
    expect(server.told.splice(0)).toEqual([`${host}:${port} to ${target.host}:${target.port}`]);
  }
});
