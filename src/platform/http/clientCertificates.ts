import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { RequestRejection } from './serveInOrder.ts';

/** Paths that need no client certificate: Kubernetes probes have none, and the responses reveal only the health. */
const EXEMPT_PATHS = new Set(['/healthz', '/readyz']);

/**
 * Rejects requests without a valid client certificate. The TLS handshake accepts any certificate or none, so each
 * request is checked.
 */
export class ClientCertificates {
  readonly #validUntilMs = new WeakMap<TLSSocket, number>();

  readonly refusal = ({ socket, url }: IncomingMessage): RequestRejection | undefined => {
    if (url !== undefined && EXEMPT_PATHS.has(url)) return undefined;
    const problem = socket instanceof TLSSocket ? this.#problemOf(socket) : 'the connection does not use TLS';
    if (problem === undefined) return undefined;
    return {
      status: 403,
      message: `${problem}; use a certificate issued by a CA in ops.tls.clientCa`,
    };
  };

  #problemOf(socket: TLSSocket): string | undefined {
    // Node reports a resumed TLS 1.3 session as authorized even if it never had a certificate.
    const untilMs = this.#validUntil(socket);
    if (Number.isNaN(untilMs)) return 'a client certificate is required';
    if (!socket.authorized) return `the client certificate is not accepted (${socket.authorizationError})`;
    // A long-lived connection or a resumed session may outlive the certificate.
    return untilMs < Date.now() ? 'the client certificate has expired' : undefined;
  }

  #validUntil(socket: TLSSocket): number {
    const known = this.#validUntilMs.get(socket);
    if (known !== undefined) return known;
    // Without a client certificate, the returned object may be empty or null, contrary to node's types.
    const untilMs = Date.parse(socket.getPeerCertificate()?.valid_to ?? '');
    this.#validUntilMs.set(socket, untilMs);
    return untilMs;
  }
}
