/** Floods of known names from one client and from many: only the client's address can distinguish them from users. */
import { expect, it } from 'vitest';
import type { AttackDetector } from '../../src/dns/detector/index.ts';
import { networkHash, QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { openTcpClient, openUdpClient, startGuarded } from './support/clients.ts';
import { query, RCODE, type Target } from './support/dnsClient.ts';
import { startDnsdistGuard } from './support/dnsdistInFront.ts';
import { RULE, ZONE_NAME } from './support/guardInFront.ts';
import { noDnsdist } from './support/realDnsdist.ts';

const LIMITED = { ...RULE, profile_sensitivity: 'medium' } as const;
const www = query(`www.${ZONE_NAME}`, QueryType.A, 1);
const MINUTE_MS = 60_000;

it('a client that floods with a known name receives TC=1 and is served over TCP, and other clients are not affected', async () => {
  const { target, guard } = await startGuarded(LIMITED);
  await expectLimited(guard.detector, target);
});

it('a flood of known names from many new clients does not affect clients that the guard has seen before', async () => {
  const { target, guard } = await startGuarded({ ...RULE, profile_sensitivity: 'very_high' });
  restThreshold(guard.detector);
  // The user's network also sent queries two hours ago.
  const nowMs = Date.now();
  for (const atMs of [nowMs - 120 * MINUTE_MS, nowMs])
    guard.detector.clients.note(networkHash('127.0.0.1'), atMs);
  const user = await openUdpClient();
  const attackers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => openUdpClient(`127.0.${i + 2}.1`)),
  );
  const got = { answers: 0, truncated: 0 };
  for (const { socket } of attackers)
    socket.on('message', (packet) => {
      got[((packet[2] ?? 0) & 0x02) === 0 ? 'answers' : 'truncated']++;
    });
  let sent = 0;
  await until('the flood to be truncated', async () => {
    // Each name is queried less often than its usual rate.
    for (let i = 0; i < 200; i++, sent++)
      attackers[i % attackers.length]?.send(
        query(`h${sent % 200}.${ZONE_NAME}`, QueryType.A, sent % 65_536),
        target,
      );
    const known = query(`h${sent % 200}.${ZONE_NAME}`, QueryType.A, 2);
    expect(await user.ask(known, target)).toMatchObject({ rcode: RCODE.NOERROR, truncated: false });
    return got.truncated > 100;
  });
  expect(got.answers).toBeGreaterThan(0);
  expect(got.answers).toBeLessThan(sent / 2);
  expect(await (await openTcpClient(target, '127.0.9.1')).ask(www)).toMatchObject({
    rcode: RCODE.NOERROR,
    answers: 1,
  });
});

it('with dnsdist, a client that floods with a known name receives TC=1, and other clients are not affected', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const { dnsdist, guard } = await startDnsdistGuard(LIMITED);
  await expectLimited(guard.detector, dnsdist);
});

/** Sets a threshold that was learned from traffic of an earlier run. */
function restThreshold(detector: AttackDetector): void {
  const nowMs = Date.now();
  detector.restore({ ...detector.learned(nowMs), rates: [[Math.floor(nowMs / MINUTE_MS) - 1, 20]] }, nowMs);
}

async function expectLimited(detector: AttackDetector, target: Target): Promise<void> {
  restThreshold(detector);
  const attacker = await openUdpClient('127.0.2.1');
  const user = await openUdpClient();
  let truncated = 0;
  let answered = 0;
  attacker.socket.on('message', (packet) => {
    if (((packet[2] ?? 0) & 0x02) === 0) answered++;
    else {
      truncated++;
      expect(packet.length).toBe(www.length);
    }
  });
  let sent = 0;
  await until('the flood to be truncated', async () => {
    for (let i = 0; i < 200; i++, sent++)
      attacker.send(query(`www.${ZONE_NAME}`, QueryType.A, sent % 65_536), target);
    const known = query(`h${sent % 200}.${ZONE_NAME}`, QueryType.A, 2);
    expect(await user.ask(known, target)).toMatchObject({
      rcode: RCODE.NOERROR,
      truncated: false,
      answers: 1,
    });
    return truncated > 1000;
  });
  expect(answered).toBeGreaterThan(0);
  expect(await (await openTcpClient(target, '127.0.2.1')).ask(www)).toMatchObject({
    rcode: RCODE.NOERROR,
    answers: 1,
  });
  expect(detector.attack).toBe(false);
}
