import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Target } from './dnsClient.ts';
import { framed } from './tcpClient.ts';

/**
 * A server over TCP that records the queries and answers each with the result of a function; no answer if that
 * returns undefined.
 */
export interface RecordingServer extends Target {
  readonly asked: readonly Buffer[];
  readonly connections: number;
  /** Closes all connections, and keeps listening. */
  closeAll(): void;
  stop(): Promise<void>;
}

export const asAnswer = (query: Buffer): Buffer => {
  const answer = Buffer.from(query);
  answer[2] = (answer[2] ?? 0) | 0x80;
  return answer;
};

export async function startRecordingServer(
  answer: (query: Buffer) => Buffer | undefined = asAnswer,
): Promise<RecordingServer> {
  const asked: Buffer[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    let pending = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        const query = Buffer.from(pending.subarray(2, end));
        pending = pending.subarray(end);
        asked.push(query);
        const bytes = answer(query);
        if (bytes !== undefined) socket.write(framed(bytes));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port');
  return {
    host: '127.0.0.1',
    port: address.port,
    asked,
    get connections() {
      return open.size;
    },
    closeAll() {
      for (const socket of open) socket.destroy();
    },
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
