import type { Socket } from 'node:net';
import { QueryType } from '../../../src/dns/protocol/index.ts';
import { bindBoth } from './bindBoth.ts';
import { RCODE, type Target } from './dnsClient.ts';
import { framed } from './tcpClient.ts';

/** How the server answers: correctly, or in one of the ways in which servers fail. */
export type FaultMode = 'right' | 'late' | 'wrongId' | 'otherQuestion' | 'servfail' | 'silent';

/** A fake server over UDP and TCP on one port. It is a fake because no real server answers wrongly on request. */
export interface FaultyServer extends Target {
  mode: FaultMode;
  /** Queries received over UDP, and how many of them were probes (SOA queries). */
  asked: number;
  probed: number;
  /** Names that begin with this text are answered SERVFAIL, whatever `way` is. */
  servfailFor: string | undefined;
  /** Names that begin with this text are not answered, over UDP and TCP. */
  silentFor: string | undefined;
  stop(): Promise<void>;
}

const LATE_MS = 1500;

export async function startFaultyServer(): Promise<FaultyServer> {
  const { udp, tcp, port } = await bindBoth();
  const open = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const server: FaultyServer = {
    host: '127.0.0.1',
    port,
    mode: 'right',
    asked: 0,
    probed: 0,
    servfailFor: undefined,
    silentFor: undefined,
    async stop() {
      if (!tcp.listening) return;
      for (const timer of timers) clearTimeout(timer);
      for (const socket of open) socket.destroy();
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
    },
  };
  const later = (send: () => void): void => {
    if (server.mode !== 'late') return send();
    const timer = setTimeout(() => {
      timers.delete(timer);
      send();
    }, LATE_MS);
    timers.add(timer);
  };
  const modeFor = (query: Buffer): FaultMode => {
    if (isFor(query, server.silentFor)) return 'silent';
    return isFor(query, server.servfailFor) ? 'servfail' : server.mode;
  };
  udp.on('message', (query, client) => {
    server.asked++;
    if (query.readUInt16BE(query.length - 4) === QueryType.SOA) server.probed++;
    const answer = answerTo(query, modeFor(query));
    if (answer !== undefined) later(() => udp.send(answer, client.port, client.address));
  });
  tcp.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      // The queries of these tests are never split.
      for (let at = 0; at < chunk.length; at += 2 + chunk.readUInt16BE(at)) {
        const query = chunk.subarray(at + 2, at + 2 + chunk.readUInt16BE(at));
        const answer = answerTo(query, isFor(query, server.silentFor) ? 'silent' : server.mode);
        if (answer !== undefined) later(() => socket.write(framed(answer)));
      }
    });
  });
  return server;
}

const isFor = (query: Buffer, name: string | undefined): boolean =>
  name !== undefined && query.toString('latin1', 13).startsWith(name);

function answerTo(query: Buffer, way: FaultMode): Buffer | undefined {
  if (way === 'silent') return undefined;
  const answer = Buffer.from(query);
  answer[2] = (answer[2] ?? 0) | 0x80;
  if (way === 'wrongId') answer.writeUInt16BE((answer.readUInt16BE(0) + 1) & 0xffff, 0);
  if (way === 'otherQuestion') answer[13] = (answer[13] ?? 0) ^ 0x02;
  if (way === 'servfail') answer[3] = RCODE.SERVFAIL;
  return answer;
}
