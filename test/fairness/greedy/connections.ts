import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { GreedyContext } from './greedy.ts';

const REOPEN_MS = 20;

export interface ConnectionsOptions {
  readonly count: number;
  /** Called for each connection when requests can be sent. */
  readonly opened: (socket: Socket) => void;
  /** Whether to speak TCP to a listener with TLS. */
  readonly isRaw?: boolean;
  /** Where to connect. Default: the HTTP listener. */
  readonly dns?: boolean;
}

/** Keeps a number of connections open. A connection that the server closes is opened again. */
export class Connections {
  /** Number of connections that were opened. */
  opened = 0;
  readonly #context: GreedyContext;
  readonly #options: ConnectionsOptions;
  readonly #sockets = new Set<Socket>();
  #isStopped = false;

  constructor(context: GreedyContext, options: ConnectionsOptions) {
    this.#context = context;
    this.#options = options;
    for (let i = 0; i < options.count; i++) this.#open();
  }

  get sockets(): ReadonlySet<Socket> {
    return this.#sockets;
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(): void {
    if (this.#isStopped) return;
    const { target, address: localAddress } = this.#context;
    const { isRaw = false, dns = false, opened } = this.#options;
    const { hostname: host, port, protocol } = new URL(target.url);
    const where = { ...(dns ? target.dns : { host, port: Number(port) }), localAddress, noDelay: true };
    const isTls = protocol === 'https:' && !isRaw && !dns;
    const socket = isTls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      this.opened++;
      opened(socket);
    });
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#open(), REOPEN_MS);
    });
  }
}

interface Sent {
  /** Bytes, or a value that is sent as JSON. Default: the request is a GET. */
  readonly body?: unknown;
  readonly headers?: readonly string[];
}

/** Returns an HTTP request as bytes. */
export function requestBytes({ target }: GreedyContext, path: string, { body, headers = [] }: Sent): Buffer {
  const start = `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`;
  const lines = [start, `host: ${new URL(target.url).host}`, ...headers];
  const payload = Buffer.isBuffer(body) ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${payload.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), payload]);
}

const RESPONSE_START = Buffer.from('HTTP/1.1 ');

/** Keeps `ahead` requests in flight on a connection, until it is closed. `answered` is called for each response. */
export function keepAsking(
  socket: Socket,
  { ahead, request, answered }: { ahead: number; request: () => Buffer; answered: () => void },
): void {
  let tail = Buffer.alloc(0);
  const send = (requests: number): void => {
    if (socket.destroyed || requests === 0) return;
    socket.write(Buffer.concat(Array.from({ length: requests }, request)));
  };
  socket.on('data', (chunk: Buffer) => {
    const read = Buffer.concat([tail, chunk]);
    let responses = 0;
    for (let at = read.indexOf(RESPONSE_START); at !== -1; at = read.indexOf(RESPONSE_START, at + 1)) {
      responses++;
      answered();
    }
    tail = read.subarray(-(RESPONSE_START.length - 1));
    send(responses);
  });
  send(ahead);
}
