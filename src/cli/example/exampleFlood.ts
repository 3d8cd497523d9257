import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { nameToWire, QueryType, queryPacket } from '../../dns/protocol/index.ts';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import type { TestFlood } from '../../server/index.ts';

const QUERIES_PER_SECOND = 4_900;
/** Queries for known names, as users send them. With the flood, at most 5,000 queries are sent per second. */
const USER_QUERIES_PER_SECOND = 100;
const DURATION_MS = 60_000;
const SLICE_MS = 20;
/** After a pause of the process, the missed queries of at most this time are sent, so that the rate stays bounded. */
const MAX_LATE_MS = 100;
const USER_ADDRESS = '127.0.0.1';
/** Source addresses of the flood, each in another /24, so that the lists of networks show something. */
const SOURCES = ['127.1.0.1', '127.2.0.1', '127.3.0.1', '127.4.0.1'];
const TYPES = [QueryType.A, QueryType.A, QueryType.A, QueryType.AAAA, QueryType.TXT];
const USER_LABELS = ['www', 'mail', 'ns1', 'alice.user', 'bob.user'];
const LABEL_RANGE = 36 ** 8;
const ID_RANGE = 65_536;

/** Sends random names of the example zone to the guard on loopback for a minute, and some queries of users. */
export class ExampleFlood implements TestFlood {
  readonly #zone: string;
  readonly #durationMs: number;
  #target: ServerAddress | undefined;
  #running: { readonly endsMs: number; readonly stop: () => void } | undefined;

  constructor(zone: string, durationMs = DURATION_MS) {
    this.#zone = zone;
    this.#durationMs = durationMs;
  }

  /** Sets the address of the guard. Only a loopback address is accepted. */
  set target({ host, port }: ServerAddress) {
    if (host.startsWith('127.')) this.#target = { host, port };
  }

  get endsOn(): string | undefined {
    return this.#running && new Date(this.#running.endsMs).toISOString();
  }

  start(): string | undefined {
    if (this.#running !== undefined) return `a test flood is running until ${this.endsOn}; wait for its end`;
    const target = this.#target;
    if (target === undefined) return 'the guard does not listen on an IPv4 loopback address (127.0.0.0/8)';
    const endsMs = Date.now() + this.#durationMs;
    const sockets = [USER_ADDRESS, ...SOURCES].map((address) => openSocket(address));
    const [users, ...sources] = sockets;
    let [sentMs, userQueries, queries] = [performance.now(), 0, 0];
    const timer = setInterval(() => {
      if (Date.now() >= endsMs) return this.stop();
      const nowMs = performance.now();
      const lateMs = Math.min(MAX_LATE_MS, nowMs - sentMs);
      sentMs = nowMs;
      for (queries += lateMs * QUERIES_PER_MS; queries >= 1; queries--)
        sources[skewed(sources.length)]?.send(this.#unknownQuery(), target.port, target.host);
      for (userQueries += lateMs * USER_QUERIES_PER_MS; userQueries >= 1; userQueries--)
        users?.send(this.#userQuery(), target.port, target.host);
    }, SLICE_MS);
    const stop = (): void => {
      clearInterval(timer);
      for (const socket of sockets) socket.close();
    };
    this.#running = { endsMs, stop };
    return undefined;
  }

  stop(): void {
    this.#running?.stop();
    this.#running = undefined;
  }

  #unknownQuery(): Uint8Array {
    const label = randomInt(LABEL_RANGE).toString(36);
    return this.#query(label, TYPES[randomInt(TYPES.length)] ?? QueryType.A);
  }

  #userQuery(): Uint8Array {
    return this.#query(USER_LABELS[randomInt(USER_LABELS.length)] ?? 'www', QueryType.A);
  }

  #query(label: string, type: number): Uint8Array {
    return queryPacket(nameToWire(`${label}.${this.#zone}`), type, randomInt(ID_RANGE));
  }
}

const MS_PER_SECOND = 1000;
const QUERIES_PER_MS = QUERIES_PER_SECOND / MS_PER_SECOND;
const USER_QUERIES_PER_MS = USER_QUERIES_PER_SECOND / MS_PER_SECOND;

/** Returns an index below `count`. Lower ones are more frequent. */
const skewed = (count: number): number => Math.min(randomInt(count), randomInt(count));

/** Opens a socket that ignores answers. Systems other than Linux have only 127.0.0.1: the socket then uses that. */
function openSocket(address: string): Socket {
  const socket = createSocket('udp4');
  socket.on('message', () => undefined);
  socket.on('error', () => undefined);
  socket.bind({ address: process.platform === 'linux' ? address : USER_ADDRESS, port: 0 });
  return socket;
}
