import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../../support/until.ts';
import { type Answer, parse, type Target } from './dnsClient.ts';

const LENGTH_BYTES = 2;

/** Returns a message with the length prefix of DNS over TCP (RFC 1035, 4.2.2). */
export const framed = (packet: Uint8Array): Buffer =>
  Buffer.concat([Uint8Array.of(packet.length >> 8, packet.length & 0xff), packet]);

/** One connection from a selectable local address that stores every answer. */
export class TcpClient {
  readonly socket: Socket;
  readonly answers: Answer[] = [];
  /** Closed by the peer, or on both sides. */
  closed = false;
  #pending = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    for (const event of ['end', 'close'])
      socket.on(event, () => {
        this.closed = true;
      });
    socket.on('data', (chunk) => this.#read(chunk));
  }

  /** Resolves when the client is connected, or when the connection attempt failed. */
  static async open(target: Target, localAddress?: string): Promise<TcpClient> {
    const socket = connect({ ...target, ...(localAddress && { localAddress }), allowHalfOpen: true });
    const client = new TcpClient(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
    return client;
  }

  send(...packets: readonly Uint8Array[]): this {
    this.socket.write(Buffer.concat(packets.map(framed)));
    return this;
  }

  /** Waits until this many answers were received in total, or the connection ended. */
  async received(count: number): Promise<readonly Answer[]> {
    await until(`${count} answers over TCP`, () => this.answers.length >= count || this.closed);
    return this.answers;
  }

  /** Sends a query and waits for one more answer; undefined if the connection ends instead. */
  async ask(packet: Uint8Array): Promise<Answer | undefined> {
    const before = this.answers.length;
    this.send(packet);
    return (await this.received(before + 1))[before];
  }

  async ended(): Promise<void> {
    await until('the connection to be closed', () => this.closed);
  }

  close(): void {
    this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt16BE(0)) {
      const end = LENGTH_BYTES + rest.readUInt16BE(0);
      this.answers.push(parse(Buffer.from(rest.subarray(LENGTH_BYTES, end))));
      rest = rest.subarray(end);
    }
    this.#pending = Buffer.from(rest);
  }
}
