import type { Socket } from 'node:net';
import { HEADER_BYTES } from '../../../src/dns/protocol/index.ts';
import { bindBoth } from './bindBoth.ts';
import type { Target } from './dnsClient.ts';
import { asAnswer } from './recordingServer.ts';
import { framed } from './tcpClient.ts';

/** An answer without a question section: response code, and the octets after the header. */
export interface BareResponse {
  readonly rcode: number;
  readonly records?: Buffer;
  /** Records per section: answer, authority, additional. */
  readonly counts?: readonly [number, number, number];
}

export interface BareServer extends Target {
  stop(): Promise<void>;
}

/**
 * Starts a fake server over UDP and TCP that answers without the question section, chosen by the first label of the
 * name, and echoes the query for all other names. CoreDNS before 1.10.1 and NSD send such answers.
 */
export async function startBareServer(
  responses: Readonly<Record<string, BareResponse>>,
): Promise<BareServer> {
  const { udp, tcp, port } = await bindBoth();
  const open = new Set<Socket>();
  const answerTo = (query: Buffer): Buffer => {
    const label = query.toString('latin1', HEADER_BYTES + 1, HEADER_BYTES + 1 + (query[HEADER_BYTES] ?? 0));
    const response = responses[label];
    if (response === undefined) return asAnswer(query);
    const { rcode, records = Buffer.alloc(0), counts = [0, 0, 0] } = response;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header[2] = 0x84;
    header[3] = rcode;
    for (const [section, count] of counts.entries()) header.writeUInt16BE(count, 6 + 2 * section);
    return Buffer.concat([header, records]);
  };
  udp.on('message', (query, client) => udp.send(answerTo(query), client.port, client.address));
  tcp.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.on('data', (chunk: Buffer) => socket.write(framed(answerTo(chunk.subarray(2)))));
  });
  return {
    host: '127.0.0.1',
    port,
    async stop() {
      for (const socket of open) socket.destroy();
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
    },
  };
}
