import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface ReaderOptions {
  /** Where it comes from: any of 127.0.0.0/8 is this machine's. */
  readonly localAddress?: string;
  readonly headers?: readonly string[];
}

/** A raw HTTP/1.1 request with a JSON body; without one, a GET. */
export function rawRequest(url: string, body?: unknown, headers: readonly string[] = []): string {
  const { host, pathname } = new URL(url);
  const lines = [`${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1`, `host: ${host}`, ...headers];
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`;
  const text = JSON.stringify(body);
  lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/**
 * A connection that sends and reads nothing until it is told to: what the socket takes in by itself (64 KiB) and what the
 * system keeps for it is all that leaves the server. A cut is no error here.
 */
export async function idleReader(url: string, { localAddress }: ReaderOptions = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
