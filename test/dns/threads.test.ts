import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOCKETS_PER_THREAD } from '../../src/dns/dataplane/embedded/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient } from './support/clients.ts';
import { query, RCODE, type Target, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME } from './support/guardInFront.ts';
import { TcpClient } from './support/tcpClient.ts';
import type { GuardState, ToGuard } from './support/threadedGuard.ts';

const GUARD = fileURLToPath(new URL('./support/threadedGuard.ts', import.meta.url));
const THREADS = 3;
/** With this many source ports, the kernel never assigns all of them to one of three threads. */
const CLIENTS = 40;
/** Indexes of verdicts, see src/dns/detector/verdict.ts. */
const PASSED = 0;
const PAID_UNKNOWN = 9;
const WOULD_DROP_UNKNOWN = 17;
const DROPPED_UNKNOWN = 25;
/** Factor of the rate in zones without an attack, at sensitivity `medium`. */
const HEADROOM = 3;
/** The floor of the thresholds; a fifth of the burst is reserved for repeated names. */
const RATE_PER_SECOND = 100;
const BURST_FOR_NEW_NAMES = 400;

const node = newerNode();

const children: ChildProcess[] = [];
/** Starts a guard with several threads in a separate process. */
async function started() {
  const child = fork(GUARD, [String(THREADS)], { execPath: node, execArgv: [] });
  children.push(child);
  const heard = async (): Promise<GuardState> => (await once(child, 'message'))[0];
  const first = await heard();
  const target: Target = { host: '127.0.0.1', port: first.port };
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => new UdpClient().open()));
  return {
    child,
    target,
    clients,
    tell: (message: ToGuard) => child.send(message),
    async state(): Promise<GuardState> {
      const answer = heard();
      child.send('state' satisfies ToGuard);
      return answer;
    },
  };
}
type Started = Awaited<ReturnType<typeof started>>;

/** Fits into the smallest default receive buffer of a kernel. */
const SLICE = 250;
let randoms = 0;
/** Sends random names from all clients in rotation; resolves when all of them have a verdict. */
async function flood({ clients, target, state }: Started, count: number): Promise<GuardState> {
  let now = await state();
  const before = judged(now);
  for (let sent = 0; sent < count; ) {
    for (const end = Math.min(count, sent + SLICE); sent < end; sent++)
      clients[sent % CLIENTS]?.send(query(`x${randoms++}.${ZONE_NAME}`, QueryType.A, sent), target);
    now = await until('every packet to have a verdict', async () => {
      const later = await state();
      return judged(later) >= before + sent && later;
    });
  }
  return now;
}
const judged = ({ verdicts }: GuardState): number => verdicts.reduce((sum, count) => sum + count, 0);
const of = ({ verdicts }: GuardState, verdict: number): number => verdicts[verdict] ?? 0;

describe.skipIf(node === undefined)(`several threads on one port${node ? '' : ` (${NO_NEWER_NODE})`}`, () => {
  /** Two guards; `quiet` is for tests that need a full bucket. */
  let quiet: Started;
  let flooded: Started;
  beforeAll(async () => {
    [quiet, flooded] = await Promise.all([started(), started()]);
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    for (const { clients } of [quiet, flooded]) for (const client of clients) client.close();
  });

  it.skipIf(!existsSync('/proc/net/udp'))(
    'have their own sockets, and answer clients from any port',
    async () => {
      const all = quiet;
      const port = all.target.port.toString(16).toUpperCase().padStart(4, '0');
      const sockets =
        readFileSync('/proc/net/udp', 'utf8').split(`0100007F:${port} 00000000:0000`).length - 1;
      expect([sockets, (await all.state()).threads.length]).toEqual([THREADS * SOCKETS_PER_THREAD, THREADS]);
      const answers = await Promise.all(
        all.clients.map((client, n) => client.ask(query(`h${n}.example.test`, QueryType.A, n), all.target)),
      );
      expect(answers.map(({ id, rcode, answers: records }) => [id, rcode, records])).toEqual(
        all.clients.map((_, n) => [n, 0, 1]),
      );
    },
  );

  it('learn from answers over TCP', async () => {
    const all = quiet;
    const before = await all.state();
    // A name is learned when two networks have asked for it.
    for (const host of ['127.0.1.1', '127.0.2.1']) {
      const client = await TcpClient.open(all.target, host);
      for (let n = 160; n < 170; n++) await client.ask(query(`h${n}.${ZONE_NAME}`, QueryType.A, n));
      client.close();
    }
    await until('the names to be learned', async () => (await all.state()).names >= before.names + 10);
  });

  it('share the two buckets of the account', async () => {
    const all = flooded;
    const startedMs = performance.now();
    const state = await flood(all, 5000);
    const elapsedSeconds = (performance.now() - startedMs) / 1000;
    expect(of(state, PAID_UNKNOWN)).toBeGreaterThanOrEqual(BURST_FOR_NEW_NAMES);
    // Queries before the attack is detected pay from the bucket for zones without an attack, which has headroom.
    expect(of(state, PAID_UNKNOWN)).toBeLessThanOrEqual(
      2 * (BURST_FOR_NEW_NAMES + 1) + elapsedSeconds * (1 + HEADROOM) * RATE_PER_SECOND,
    );
    // On a busy machine the rate may be below an attack; such queries count as would drop.
    const limited = of(state, DROPPED_UNKNOWN) + of(state, WOULD_DROP_UNKNOWN);
    expect(of(state, PAID_UNKNOWN) + limited).toBe(5000);
    expect(judged(state)).toBe(5000);
  });

  it('report an attack together', async () => {
    const attack = await until('samples of several threads in the attack report', async () => {
      const [known] = (await flood(flooded, 2000)).attacks;
      return known !== undefined && known.limited > 1000 && known.top.sampled > 256 && known;
    });
    expect(attack).toMatchObject({ zones: [ZONE_NAME], state: 'active' });
    expect(attack.top.names[0]?.value).toMatch(/^\[0-9a-z\]\{\d-\d\}\.example\.test$/);
    expect(attack.top.networks).toMatchObject([{ value: '127.0.0.0/24' }]);
    // Each thread samples its own refusals; the weight covers all of them except those of the last second.
    expect(attack.top.weight).toBeLessThanOrEqual(attack.limited + attack.would_drop);
  });

  it('share the learned names', async () => {
    const all = quiet;
    const { names } = await all.state();
    for (const host of ['127.0.1.1', '127.0.2.1'])
      await (await openUdpClient(host)).ask(query('h150.example.test'), all.target);
    await until('the name to be known', async () => (await all.state()).names === names + 1);
    const before = await flood(all, 2000);
    for (const client of all.clients) client.send(query('h150.example.test'), all.target);
    const after = await until('all queries to have a verdict', async () => {
      const now = await all.state();
      return judged(now) >= judged(before) + CLIENTS && now;
    });
    expect(of(after, PASSED) - of(before, PASSED)).toBe(CLIENTS);
  });

  it('apply a changed rule at once', async () => {
    const all = flooded;
    await flood(all, 2000);
    all.tell('monitor');
    const before = await all.state();
    const after = await flood(all, 2000);
    expect(of(after, DROPPED_UNKNOWN)).toBe(of(before, DROPPED_UNKNOWN));
    expect(of(after, WOULD_DROP_UNKNOWN)).toBeGreaterThan(1000);
  });

  it('are replaced if they die, while the others continue, and their counts are kept', async () => {
    const all = quiet;
    const ask = () =>
      Promise.all(
        all.clients.map((client, n) =>
          client.ask(query(`h${n}.example.test`, QueryType.A, n), all.target, 250),
        ),
      );
    await ask();
    const before = await until('the answers to be counted', async () => {
      const now = await all.state();
      return now.answered >= CLIENTS && now;
    });
    all.tell('kill');
    await ask();
    const after = await until('the dead thread to be replaced', async () => {
      const now = await all.state();
      return now.threads.length === THREADS && now.threads.join() !== before.threads.join() && now;
    });
    expect(after.received).toBeGreaterThanOrEqual(before.received);
    expect(after.answered).toBeGreaterThanOrEqual(before.answered);
    expect(after.threads.filter((thread) => before.threads.includes(thread))).toHaveLength(THREADS - 1);
    await ask();
  });

  it('leave TCP to a thread of its own, which answers while the main thread is blocked', async () => {
    const all = quiet;
    const release = join(mkdtempSync(join(tmpdir(), 'floodgate-threads-')), 'release');
    atEnd(() => rmSync(dirname(release), { recursive: true }));
    all.tell({ blockUntil: release });
    const client = await TcpClient.open(all.target);
    // The DNS server runs in the blocked thread, too, so this is an answer of the guard.
    const answer = await client.ask(query(ZONE_NAME, QueryType.AXFR, 1));
    writeFileSync(release, '');
    expect(answer).toMatchObject({ rcode: RCODE.REFUSED });
    await all.state();
    client.close();
  });

  it('include a thread for TCP, which is replaced if it dies, listens again, and keeps its counts', async () => {
    const all = quiet;
    const askOverTcp = async () => {
      const client = await TcpClient.open(all.target);
      const answer = await client.ask(query(`h1.${ZONE_NAME}`, QueryType.A, 1));
      return answer !== undefined && client;
    };
    const open = await until('an answer', askOverTcp);
    const before = await until('the query to be counted', async () => {
      const now = await all.state();
      return now.passedOverTcp > 0 && now.tcpConnections > 0 && now;
    });
    all.tell('killTcp');
    await until('the connection to be closed', () => open.closed);
    const later = await until('the dead thread to be replaced', askOverTcp);
    const after = await until('the query to be counted', async () => {
      const now = await all.state();
      return now.passedOverTcp > before.passedOverTcp && now;
    });
    expect(after.tcpThread).not.toBe(before.tcpThread);
    expect(after.threads).toEqual(before.threads);
    later.close();
    await until('the connection to be closed', async () => (await all.state()).tcpConnections === 0);
  });

  it('do not share a port with another program', async () => {
    const other = await openUdpClient();
    const { port } = other.socket.address();
    const child = fork(GUARD, [String(THREADS), String(port)], {
      execPath: node,
      execArgv: [],
      silent: true,
    });
    atEnd(() => child.kill('SIGKILL'));
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    const [code] = await once(child, 'close');
    // Another program may have the TCP port by now, so the message may be the one for TCP.
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(new RegExp(`EADDRINUSE.* 127\\.0\\.0\\.1:${port}`)),
    ]);
  });

  it('all end when the guard stops', async () => {
    const { child, tell } = quiet;
    const exited = once(child, 'exit');
    tell('stop');
    expect(await exited).toEqual([0, null]);
  });
});
