import { connect, type Socket } from 'node:net';

/**
 * A load generator for benchmarks: keep-alive connections with one request at a time; only the length and the time of
 * a response are kept. It uses raw sockets, because an HTTP client of the same runtime takes longer than the server
 * under test, and both share the cores of this machine.
 */

export interface LoadOptions {
  readonly url: string;
  /** Bodies of POST requests, used in rotation. */
  readonly bodies: readonly Buffer[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly connections: number;
  /** Duration. Default: until every body was sent once. */
  readonly durationMs?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytesPerAnswer: number;
  /** Number of responses whose status is not 200. */
  readonly refused: number;
}

export async function load(options: LoadOptions): Promise<LoadResult> {
  const requests = options.bodies.map((body) => requestOf(options, body));
  const { hostname, port } = new URL(options.url);
  const timesMs: number[] = [];
  let next = 0;
  let bytes = 0;
  let refused = 0;
  const started = performance.now();
  const deadline = options.durationMs === undefined ? Number.POSITIVE_INFINITY : started + options.durationMs;
  const take = (): Buffer | undefined => {
    if (performance.now() >= deadline) return undefined;
    if (options.durationMs === undefined && next >= requests.length) return undefined;
    return requests[next++ % requests.length];
  };
  await Promise.all(
    Array.from({ length: options.connections }, () =>
      converse(
        () => connect({ host: hostname, port: Number(port), noDelay: true }),
        take,
        (timeMs, length, status) => {
          timesMs.push(timeMs);
          bytes += length;
          if (status !== 200) refused++;
        },
      ),
    ),
  );
  const elapsedMs = performance.now() - started;
  timesMs.sort((a, b) => a - b);
  const quantile = (q: number): number =>
    timesMs[Math.min(timesMs.length - 1, Math.floor(q * timesMs.length))] ?? 0;
  return {
    requests: timesMs.length,
    requestsPerSecond: (1000 * timesMs.length) / elapsedMs,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    bytesPerAnswer: bytes / Math.max(1, timesMs.length),
    refused,
  };
}

function requestOf(options: LoadOptions, body: Buffer): Buffer {
  const { host, pathname, search } = new URL(options.url);
  const headers = { 'content-type': 'application/json', ...options.headers };
  const lines = [
    `${options.method ?? 'POST'} ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/**
 * Sends requests one by one until `take` returns undefined; reconnects if the server closes the connection after a
 * response.
 */
function converse(
  open: () => Socket,
  take: () => Buffer | undefined,
  answered: (timeMs: number, bytes: number, status: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      const socket = open();
      let sentAt = 0;
      let head = '';
      let left = 0;
      let length = 0;
      let status = 0;
      let isLast = false;
      let isChunked = false;
      const send = (): void => {
        const request = take();
        if (request === undefined) {
          socket.destroy();
          resolve();
          return;
        }
        sentAt = performance.now();
        socket.write(request);
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('end', () => {
        if (!isLast) reject(new Error('the server closed the connection'));
      });
      socket.on('data', (data: Buffer) => {
        let body = data.length;
        if (left === 0) {
          head += data.toString('latin1', 0, Math.min(data.length, 2048));
          const end = head.indexOf('\r\n\r\n');
          if (end < 0) return;
          body = data.length - (end + 4 - (head.length - Math.min(data.length, 2048)));
          const headers = head.slice(0, end + 2);
          isChunked = /\r\ntransfer-encoding: *chunked\r\n/i.test(headers);
          // The length of a chunked response is known at its end.
          length = isChunked ? 0 : Number(/content-length: *(\d+)/i.exec(headers)?.[1] ?? 0);
          status = Number(headers.slice(9, 12));
          isLast = /\r\nconnection: *close\r\n/i.test(headers);
          left = isChunked ? Number.POSITIVE_INFINITY : length;
          head = '';
        }
        if (isChunked) {
          length += body;
          // JSON does not contain a line with only a 0.
          if (!data.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return;
          left = 0;
        } else left -= body;
        if (left > 0) return;
        answered(performance.now() - sentAt, length, status);
        if (!isLast) return send();
        socket.destroy();
        begin();
      });
    };
    begin();
  });
}
