import type { Socket } from 'node:net';
import { QueryType } from '../../../src/dns/protocol/index.ts';
import { bindBoth } from './bindBoth.ts';
import { RCODE, type Target } from './dnsClient.ts';
import { framed } from './tcpClient.ts';

/** How it answers: as it should, or in one of the ways in which servers break. */
export type Way = 'right' | 'late' | 'wrongId' | 'otherQuestion' | 'servfail' | 'silent';

/** A fake, as no real server can be had that answers wrongly: over UDP and TCP, at one port. */
export interface LyingServer extends Target {
  way: Way;
  /** Queries that it was asked over UDP, and those of them that were probes: for an SOA. */
  asked: number;
  probed: number;
  /** Names that begin so are answered SERVFAIL, however it answers others. */
  servfailFor: string | undefined;
  stop(): Promise<void>;
}

const LATE_MS = 1500;

export async function lyingServer(): Promise<LyingServer> {
  const { udp, tcp, port } = await bindBoth();
  const open = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const server: LyingServer = {
    host: '127.0.0.1',
    port,
    way: 'right',
    asked: 0,
    probed: 0,
    servfailFor: undefined,
    async stop() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of open) socket.destroy();
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
    },
  };
  const later = (send: () => void): void => {
    if (server.way !== 'late') return send();
    const timer = setTimeout(() => {
      timers.delete(timer);
      send();
    }, LATE_MS);
    timers.add(timer);
  };
  udp.on('message', (query, client) => {
    server.asked++;
    if (query.readUInt16BE(query.length - 4) === QueryType.SOA) server.probed++;
    const { servfailFor } = server;
    const isBad = servfailFor !== undefined && query.toString('latin1', 13).startsWith(servfailFor);
    const answer = answerTo(query, isBad ? 'servfail' : server.way);
    if (answer !== undefined) later(() => udp.send(answer, client.port, client.address));
  });
  tcp.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const answer = answerTo(chunk.subarray(2), server.way);
      if (answer !== undefined) later(() => socket.write(framed(answer)));
    });
  });
  return server;
}

function answerTo(query: Buffer, way: Way): Buffer | undefined {
  if (way === 'silent') return undefined;
  const answer = Buffer.from(query);
  answer[2] = (answer[2] ?? 0) | 0x80;
  if (way === 'wrongId') answer.writeUInt16BE((answer.readUInt16BE(0) + 1) & 0xffff, 0);
  if (way === 'otherQuestion') answer[13] = (answer[13] ?? 0) ^ 0x02;
  if (way === 'servfail') answer[3] = RCODE.SERVFAIL;
  return answer;
}
