import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface ReaderOptions {
  /** Local address of the connection; every address of 127.0.0.0/8 is local. */
  readonly localAddress?: string;
  readonly headers?: readonly string[];
}

/** Returns a raw HTTP/1.1 request with a JSON body; without one, a GET. */
export function rawRequest(url: string, body?: unknown, headers: readonly string[] = []): string {
  const { host, pathname } = new URL(url);
  const lines = [`${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1`, `host: ${host}`, ...headers];
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`;
  const text = JSON.stringify(body);
  lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/**
 * Opens a connection that sends and reads nothing until the test does. The server can only send what fits into the
 * socket (64 KiB) and the buffers of the system. Errors of a closed connection are ignored.
 */
export async function openIdleConnection(url: string, { localAddress }: ReaderOptions = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
