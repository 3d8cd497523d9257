import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Refusal } from './serveInOrder.ts';

/** Answered without a certificate: a Kubernetes probe has none, and is told nothing but yes or no. */
const WITHOUT = new Set(['/healthz', '/readyz']);

/** Admits requests whose connection has a certificate of a client that is valid now. The server asks for one, and takes any. */
export class ClientCertificates {
  readonly #connections = new Set<Socket>();
  readonly #validUntilMs = new WeakMap<TLSSocket, number>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  /** The authorities have changed: ends all connections, also those that are being agreed on by the ones before. */
  cut(): void {
    for (const socket of this.#connections) socket.destroy();
  }

  readonly refusal = ({ socket, url }: IncomingMessage): Refusal | undefined => {
    if (url !== undefined && WITHOUT.has(url)) return undefined;
    const problem = socket instanceof TLSSocket ? this.#problemOf(socket) : 'the connection has no TLS';
    if (problem === undefined) return undefined;
    return {
      status: 403,
      message: `${problem}; connect with a certificate of an authority in ops.tls.clientCa`,
    };
  };

  #problemOf(socket: TLSSocket): string | undefined {
    // Node takes a resumed session of TLS 1.3 for authorized where it never had a certificate: there must be one, too.
    const untilMs = this.#validUntil(socket);
    if (Number.isNaN(untilMs)) return 'a client certificate is needed';
    if (!socket.authorized) return `the client certificate is not accepted (${socket.authorizationError})`;
    // The connection, or a session that it goes on with, may be older than that.
    return untilMs < Date.now() ? 'the client certificate has expired' : undefined;
  }

  /** NaN where there is no certificate. */
  #validUntil(socket: TLSSocket): number {
    const known = this.#validUntilMs.get(socket);
    if (known !== undefined) return known;
    // Its types do not know that it is empty, or null, where the peer has none.
    const untilMs = Date.parse(socket.getPeerCertificate()?.valid_to ?? '');
    this.#validUntilMs.set(socket, untilMs);
    return untilMs;
  }
}
