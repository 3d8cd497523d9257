import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, openUdpClient, startGuarded } from './support/clients.ts';
import { askTcp, query, type Target } from './support/dnsClient.ts';
import { noKnot, startWhoamiKnot, WHOAMI_ZONE } from './support/realKnot.ts';
import { asAnswer } from './support/recordingServer.ts';
import { framed } from './support/tcpClient.ts';

const CLIENTS = ['127.0.0.1', '127.0.77.9'];

/** Returns the address in the only record of an answer. */
const lastOctets = (bytes: Buffer): string => [...bytes.subarray(-4)].join('.');

it("Knot receives the client's address by PROXY protocol over UDP, unless that is off", async (ctx) => {
  if (noKnot) return ctx.skip(noKnot);
  const knot = await startWhoamiKnot();
  atEnd(() => knot.stop());
  const seen = async (proxyProtocol: 'udp' | undefined): Promise<string[]> => {
    const { target, plane } = await startGuarded(undefined, {
      servers: [{ ...knot, proxyProtocol }],
      probeName: WHOAMI_ZONE,
    });
    const addresses: string[] = [];
    for (const host of CLIENTS) {
      const { bytes } = await (await openUdpClient(host)).ask(query(WHOAMI_ZONE), target);
      addresses.push(lastOctets(bytes));
    }
    // Over TCP this server does not accept the header, so it is sent none.
    const [overTcp] = await askTcp([query(WHOAMI_ZONE)], target);
    expect(overTcp).toMatchObject({ answers: 1 });
    expect(plane.servers[0]?.up).toBe(true);
    return addresses;
  };
  expect(await seen('udp')).toEqual(CLIENTS);
  expect(await seen(undefined)).toEqual(['127.0.0.1', '127.0.0.1']);
});

it("Knot answers health probes, whose PROXY header contains the guard's own address", async (ctx) => {
  if (noKnot) return ctx.skip(noKnot);
  const knot = await startWhoamiKnot();
  atEnd(() => knot.stop());
  // With two servers, each is probed even without queries. No process listens on the other address.
  const { plane } = await startGuarded(undefined, {
    servers: [
      { ...knot, proxyProtocol: 'udp' },
      { host: '127.0.0.1', port: 9, proxyProtocol: 'udp' },
    ],
    probeName: WHOAMI_ZONE,
  });
  await until('the other server to be taken out of use', () => plane.servers[1]?.up === false);
  expect(plane.servers[0]?.up).toBe(true);
});

/** Starts a server that reads the header as specified, and records its addresses. */
async function proxiedServer(): Promise<Target & { readonly reported: string[] }> {
  const reported: string[] = [];
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
        reported.push(readHeader(pending.subarray(0, end)));
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
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port');
  return { host: '127.0.0.1', port: address.port, reported };
}

function readHeader(header: Buffer): string {
  expect(header.subarray(0, 12).toString('latin1')).toBe('\r\n\r\n\0\r\nQUIT\n');
  expect([header[12], header[13], header.readUInt16BE(14)]).toEqual([0x21, 0x11, 12]);
  const address = (at: number) => [...header.subarray(at, at + 4)].join('.');
  return `${address(16)}:${header.readUInt16BE(24)} to ${address(20)}:${header.readUInt16BE(26)}`;
}

it("a server receives the client's address once per TCP connection, and its answers reach the client", async () => {
  const server = await proxiedServer();
  const { target } = await startGuarded(undefined, {
    servers: [{ host: server.host, port: server.port, proxyProtocol: 'udp and tcp' }],
  });
  for (const host of CLIENTS) {
    const client = await openTcpClient(target, host);
    const { port } = client.socket.address() as { port: number };
    client.send(query('www.example.test', QueryType.A, 7), query('h1.example.test', QueryType.A, 8));
    expect((await client.received(2)).map(({ id }) => id)).toEqual([7, 8]);
    expect(server.reported.splice(0)).toEqual([`${host}:${port} to ${target.host}:${target.port}`]);
  }
});
