/**
 * A guard with several threads in a separate process, run by a Node version that can share a port. The parent process
 * controls it by messages.
 */
import { existsSync } from 'node:fs';
import type { Attack } from '../../../src/dns/attacks/index.ts';
import { verdictOf, ZoneSeed } from '../../../src/dns/detector/index.ts';
import { nameToWire } from '../../../src/dns/protocol/index.ts';
import { RULE, startGuardInFront, ZONE_NAME } from './guardInFront.ts';

export type ToGuard =
  | 'state'
  | 'kill'
  | 'killTcp'
  | 'monitor'
  | 'stop'
  /** Blocks the main thread until a file exists. */
  | { readonly blockUntil: string };

export interface GuardState {
  readonly port: number;
  /** Ids of the threads that receive queries. */
  readonly threads: readonly number[];
  readonly tcpThread: number | undefined;
  readonly verdicts: readonly number[];
  /** Queries over TCP that had to pay no token. */
  readonly passedOverTcp: number;
  readonly tcpConnections: number;
  readonly names: number;
  /** Number of valid packets that were received. */
  readonly received: number;
  readonly answered: number;
  /** For each server, whether it is in use. */
  readonly inUse: readonly boolean[];
  readonly areServersHealthy: boolean;
  readonly attacks: readonly Attack[];
}

const { guard, rules, target, stop } = await startGuardInFront(
  {},
  {
    threads: Number(process.argv[2]),
    listen: [{ host: '127.0.0.1', port: Number(process.argv[3] ?? 0) }],
    ...(process.argv[4] !== undefined && { servers: JSON.parse(process.argv[4]), probeName: ZONE_NAME }),
    seed: false,
  },
);
// Half of the names only, so that the others have to be learned.
const seed = new ZoneSeed({ zone: ZONE_NAME }, guard);
for (let n = 0; n < 100; n++) seed.add(nameToWire(`h${n}.${ZONE_NAME}`), 'A');
seed.finish();

process.on('message', (message: ToGuard) => {
  if (message === 'kill') void guard.dataPlane.threads[0]?.terminate();
  else if (message === 'killTcp') void guard.dataPlane.tcpThread?.terminate();
  else if (message === 'monitor') rules.set({ ...RULE, mode: 'monitoring' });
  else if (message === 'stop') void stop().then(() => process.disconnect());
  else if (message === 'state') process.send?.(state());
  else while (!existsSync(message.blockUntil));
});
// If the test is killed, the open sockets would keep this process running.
process.once('disconnect', () => process.exit());
process.send?.(state());

function state(): GuardState {
  return {
    port: target.port,
    threads: guard.dataPlane.threads.map(({ threadId }) => threadId),
    tcpThread: guard.dataPlane.tcpThread?.threadId,
    verdicts: [...guard.detector.verdicts],
    passedOverTcp: guard.dataPlane.tcp.counts.queries[verdictOf('passed', 'none')] ?? 0,
    tcpConnections: guard.dataPlane.tcp.connections,
    names: guard.detector.profile.size,
    received: guard.dataPlane.packets().ok,
    answered: guard.dataPlane.servers.reduce((sum, { answered }) => sum + answered, 0),
    inUse: guard.dataPlane.servers.map(({ up }) => up),
    areServersHealthy: guard.detector.upstreamsHealthy,
    attacks: guard.attacks.open(),
  };
}
