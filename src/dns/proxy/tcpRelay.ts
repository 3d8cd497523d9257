/**
 * DNS over TCP is passed on byte by byte, to one server a connection, and never dropped: transfers, pipelining and
 * whatever comes next work without being known here. Only how many and how long is bounded.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { AnswerHeads } from './answerHeads.ts';
import type { ServerAddress } from './backend.ts';

/** Hears the head of each answer over TCP, and the address of whoever asked. */
export type OnTcpAnswer = (head: Uint8Array, address: string) => void;

/** As many as a server of ours would take itself by default; beyond, a new connection is closed at once. */
const MAX_CONNECTIONS = 1000;
/** One address may not take them all. */
const MAX_CONNECTIONS_PER_ADDRESS = 100;
/** RFC 7766, 6.2.3: an idle limit of the order of seconds. */
const IDLE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2000;

export class TcpRelay {
  readonly server: Server;
  accepted = 0;
  refused = 0;
  readonly #servers: () => readonly ServerAddress[];
  readonly #onAnswer: OnTcpAnswer;
  readonly #open = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();

  constructor(servers: () => readonly ServerAddress[], onAnswer: OnTcpAnswer) {
    this.#servers = servers;
    this.#onAnswer = onAnswer;
    this.server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#accept(client));
  }

  get connections(): number {
    return this.#open.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #accept(client: Socket): void {
    const address = client.remoteAddress ?? '';
    const fromAddress = this.#perAddress.get(address) ?? 0;
    if (this.#open.size >= MAX_CONNECTIONS || fromAddress >= MAX_CONNECTIONS_PER_ADDRESS) {
      this.refused++;
      client.destroy();
      return;
    }
    this.accepted++;
    this.#open.add(client);
    this.#perAddress.set(address, fromAddress + 1);
    client.on('error', () => client.destroy());
    client.on('close', () => {
      this.#open.delete(client);
      const left = (this.#perAddress.get(address) ?? 1) - 1;
      if (left === 0) this.#perAddress.delete(address);
      else this.#perAddress.set(address, left);
    });
    client.setTimeout(IDLE_MS, () => client.destroy());
    this.#connect(client, this.#servers());
  }

  /** Tries the servers one after the other; the client's bytes wait in its socket meanwhile. */
  #connect(client: Socket, [server, ...others]: readonly ServerAddress[]): void {
    if (server === undefined || client.destroyed) return void client.destroy();
    const upstream = connect({ host: server.host, port: server.port, noDelay: true, allowHalfOpen: true });
    upstream.setTimeout(CONNECT_TIMEOUT_MS, () => upstream.destroy());
    let connected = false;
    upstream.once('connect', () => {
      connected = true;
      upstream.setTimeout(IDLE_MS);
      const address = client.remoteAddress ?? '';
      const heads = new AnswerHeads((head) => this.#onAnswer(head, address));
      upstream.on('data', (chunk: Buffer) => heads.push(chunk));
      client.pipe(upstream);
      upstream.pipe(client);
    });
    upstream.on('error', () => upstream.destroy());
    // end() still sends what the client has not received yet; its own idle limit closes it for good.
    upstream.once('close', () => (connected ? client.end() : this.#connect(client, others)));
    client.once('close', () => upstream.destroy());
  }
}
