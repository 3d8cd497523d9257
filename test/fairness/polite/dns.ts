import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, parse, query, RCODE } from '../../dns/support/dnsClient.ts';
import { framed } from '../../dns/support/tcpClient.ts';
import { KNOWN_NAMES, type Target, ZONE_NAME } from '../target.ts';
import { atRate, type PoliteClient, Watch } from '../watch.ts';

const UDP_PER_SECOND = 50;
const TCP_PER_SECOND = 10;
const QUERIES_PER_CONNECTION = 10;
const RETRY_MS = 1_000;
const TICK_MS = 10;
const MAX_TRIES = 10;

interface Pending {
  readonly host: number;
  sentMs: number;
  tries: number;
}

const packetOf = (host: number, id: number): Buffer => query(`h${host}.${ZONE_NAME}`, 1, id);

const isRight = ({ rcode, answers, bytes }: Answer, host: number): boolean =>
  rcode === RCODE.NOERROR && answers === 1 && bytes.at(-1) === host;

/**
 * False if a resolver would ask again: after TC=1, and after SERVFAIL, which the guard sends while the DNS server, a part
 * of the test process, has no processor time for a second.
 */
const isFinal = ({ truncated, rcode }: Answer): boolean => !truncated && rcode !== RCODE.SERVFAIL;

/** Sends queries for known names over UDP. A query without an answer is sent again after a second. */
export async function startDnsUdp(target: Target, localAddress: string): Promise<PoliteClient> {
  const watch = new Watch('DNS over UDP');
  const socket = createSocket('udp4').bind(0, localAddress);
  await once(socket, 'listening');
  const pending = new Map<number, Pending>();
  const send = (id: number, { host }: Pending): void =>
    socket.send(packetOf(host, id), target.dns.port, target.dns.host);
  socket.on('message', (bytes) => {
    const answer = parse(bytes);
    const waiting = pending.get(answer.id);
    if (waiting === undefined || !isFinal(answer)) return;
    pending.delete(answer.id);
    if (!isRight(answer, waiting.host)) watch.failed(`wrong answer: ${bytes.toString('hex')}`);
    else watch.answered(performance.now() - waiting.sentMs);
  });
  const startedMs = performance.now();
  let sent = 0;
  let isStopped = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const [id, waiting] of pending) {
      if (nowMs - waiting.sentMs < RETRY_MS) continue;
      if (waiting.tries === 1) watch.lost();
      if (waiting.tries === MAX_TRIES) {
        watch.failed(`no answer to ${MAX_TRIES} queries for h${waiting.host}.${ZONE_NAME}`);
        pending.delete(id);
        continue;
      }
      waiting.tries++;
      waiting.sentMs = nowMs;
      send(id, waiting);
    }
    for (; !isStopped && sent < ((nowMs - startedMs) * UDP_PER_SECOND) / 1_000; sent++) {
      const waiting = { host: sent % KNOWN_NAMES, sentMs: nowMs, tries: 1 };
      pending.set(sent & 0xffff, waiting);
      send(sent & 0xffff, waiting);
    }
  }, TICK_MS);
  return {
    watch,
    async stop() {
      isStopped = true;
      while (pending.size > 0) await pause(TICK_MS);
      clearInterval(timer);
      socket.close();
    },
  };
}

/** Sends queries for known names over TCP, ten on a connection. */
export function startDnsTcp(target: Target, localAddress: string): PoliteClient {
  let socket: Socket | undefined;
  let sent = 0;
  const running = atRate(new Watch('DNS over TCP'), TCP_PER_SECOND, async () => {
    if (sent % QUERIES_PER_CONNECTION === 0) {
      socket?.destroy();
      socket = connect({ ...target.dns, localAddress, noDelay: true });
      await once(socket, 'connect');
    }
    const host = sent++ % KNOWN_NAMES;
    if (socket === undefined) return;
    try {
      let answer = await askOn(socket, packetOf(host, sent & 0xffff));
      for (let tries = 1; tries < MAX_TRIES && !isFinal(answer); tries++) {
        await pause(RETRY_MS);
        answer = await askOn(socket, packetOf(host, sent & 0xffff));
      }
      if (!isRight(answer, host)) throw new Error(`wrong answer: ${answer.bytes.toString('hex')}`);
    } catch (error) {
      sent = 0;
      throw error;
    }
  });
  return { watch: running.watch, stop: (limitMs) => running.stop(limitMs).finally(() => socket?.destroy()) };
}

function askOn(socket: Socket, packet: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const end = (settle: () => void): void => {
      socket.removeAllListeners();
      socket.on('error', () => undefined);
      settle();
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      end(() => resolve(parse(received.subarray(2))));
    });
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('close', () => end(() => reject(new Error('the DNS connection was closed before the answer'))));
    socket.write(framed(packet));
  });
}
