import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient } from './support/clients.ts';
import { query, RCODE, UdpClient } from './support/dnsClient.ts';
import { startGuardInFront, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { startProgram } from './support/program.ts';
import { noRawSockets, RawUdp } from './support/rawUdp.ts';
import type { GuardState } from './support/threadedGuard.ts';

const THREADED_GUARD = fileURLToPath(new URL('./support/threadedGuard.ts', import.meta.url));
const THREADS = 3;
const LOOPBACK = '127.0.0.1';

/** Returns packets for each path: forwarded to a server, answered FORMERR, answered NOTIMP, dropped. */
function everyKind(): Buffer[] {
  const changed = (offset: number, byte: number): Buffer => {
    const packet = query(`www.${ZONE_NAME}`);
    packet[offset] = byte;
    return packet;
  };
  return [
    query(`www.${ZONE_NAME}`),
    query(`none.${ZONE_NAME}`),
    changed(5, 2),
    changed(12, 0xc0),
    changed(2, 5 << 3),
    changed(2, 0x80),
    Buffer.alloc(0),
    Buffer.alloc(5000, 1),
  ];
}

async function opened() {
  const raw = await new RawUdp().open();
  atEnd(() => raw.close());
  const client = await openUdpClient();
  return { raw, client };
}

describe('a packet from source port 0', () => {
  it('is counted and dropped, because it cannot be answered, and the program continues', async (ctx) => {
    if (noRawSockets) return ctx.skip(noRawSockets);
    const { raw, client } = await opened();
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    atEnd(() => rm(folder, { recursive: true, force: true }));
    const server = createSocket('udp4').bind(0, LOOPBACK);
    await once(server, 'listening');
    atEnd(() => server.close());
    const asked: number[] = [];
    server.on('message', (packet, { port, address }) => {
      asked.push(packet.readUInt16BE(packet.length - 4));
      packet[2] = 0x80;
      server.send(packet, port, address);
    });
    const program = await startProgram(folder, { host: LOOPBACK, port: server.address().port });
    atEnd(() => program.stop());
    const packets = everyKind();
    for (const packet of packets) {
      await raw.send(0, program.dns.port, packet);
      // After each packet, a query of its own type: its answer proves that the packet was processed.
      const alive = query(`www.${ZONE_NAME}`, QueryType.TXT, 7);
      expect(await client.ask(alive, program.dns)).toMatchObject({ id: 7, rcode: RCODE.NOERROR });
    }
    // The thread that receives reports its counts at intervals.
    await until('the packets to be counted', async () =>
      (await program.metrics()).includes(`floodgate_dns_packets_total{result="portZero"} ${packets.length}`),
    );
    // Packets from port 0 are not forwarded to a server. SOA queries are probes.
    expect(new Set(asked.filter((type) => type !== QueryType.SOA))).toEqual(new Set([QueryType.TXT]));
  });

  const node = newerNode();
  it.skipIf(node === undefined)(`ends no thread${node ? '' : ` (${NO_NEWER_NODE})`}`, async (ctx) => {
    if (noRawSockets) return ctx.skip(noRawSockets);
    const { raw, client } = await opened();
    const child = fork(THREADED_GUARD, [String(THREADS)], { execPath: node, execArgv: [] });
    atEnd(() => child.kill('SIGKILL'));
    const state = async (): Promise<GuardState> => {
      const answer = once(child, 'message');
      child.send('state');
      return (await answer)[0];
    };
    const [first]: GuardState[] = await once(child, 'message');
    if (first === undefined) throw new Error('the guard sent no message');
    // The kernel selects a socket by the source port, so all packets from port 0 reach the same one.
    for (const packet of everyKind()) {
      await raw.send(0, first.port, packet);
      const target = { host: LOOPBACK, port: first.port };
      for (let i = 0; i < THREADS * 4; i++) {
        const other = await new UdpClient().open();
        expect(await other.ask(query(`h${i}.${ZONE_NAME}`, QueryType.A, i), target)).toMatchObject({
          id: i,
        });
        other.close();
      }
      expect(await client.ask(query(`www.${ZONE_NAME}`), target)).toMatchObject({ rcode: RCODE.NOERROR });
    }
    expect((await state()).threads).toEqual(first.threads);
  });

  it('is dropped if the bucket is empty, even if the guard would answer TC=1, and also by the built-in server', async (ctx) => {
    if (noRawSockets) return ctx.skip(noRawSockets);
    const { raw, client } = await opened();
    const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
    atEnd(() => server.stop());
    const { guard, target, stop } = await startGuardInFront(
      {},
      { servers: [server], detector: { limitAction: 'truncate' } },
    );
    atEnd(stop);
    for (let i = 0; i < 700; i++) client.send(query(`x${i}.${ZONE_NAME}`, QueryType.A, 1000 + i), target);
    await client.ask(query(`www.${ZONE_NAME}`), target);
    for (let i = 0; i < 50; i++) {
      await raw.send(0, target.port, query(`y${i}.${ZONE_NAME}`));
      await raw.send(0, server.port, query(`www.${ZONE_NAME}`));
    }
    expect(await client.ask(query(`www.${ZONE_NAME}`), server)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(await client.ask(query(`www.${ZONE_NAME}`), target)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(guard.dataPlane.packets().portZero).toBe(50);
  });
});
