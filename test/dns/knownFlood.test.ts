/** Floods of known names, from one client and from many: names say nothing of them, only who asks does. */
import { expect, it } from 'vitest';
import type { AttackDetector } from '../../src/dns/detector/index.ts';
import { networkHash, QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { query, RCODE, type Target } from './support/dnsClient.ts';
import { running } from './support/dnsdistInFront.ts';
import { RULE, ZONE_NAME } from './support/guardInFront.ts';
import { guarded, tcp, udp } from './support/opened.ts';
import { noDnsdist } from './support/realDnsdist.ts';

const LIMITED = { ...RULE, profile_sensitivity: 'medium' } as const;
const www = query(`www.${ZONE_NAME}`, QueryType.A, 1);
const MINUTE_MS = 60_000;

it('a client that floods with a known name is answered TC=1 and served over TCP; others notice nothing', async () => {
  const { target, guard } = await guarded(LIMITED);
  await expectLimited(guard.detector, target);
});

it('many that were never here before, and flood with all known names, keep nobody out who was', async () => {
  const { target, guard } = await guarded({ ...RULE, profile_sensitivity: 'very_high' });
  restThreshold(guard.detector);
  // The user's network asked two hours ago, too.
  const nowMs = Date.now();
  for (const atMs of [nowMs - 120 * MINUTE_MS, nowMs])
    guard.detector.clients.note(networkHash('127.0.0.1'), atMs);
  const user = await udp();
  const attackers = await Promise.all(Array.from({ length: 20 }, (_, i) => udp(`127.0.${i + 2}.1`)));
  const got = { answers: 0, truncated: 0 };
  for (const { socket } of attackers)
    socket.on('message', (packet) => {
      got[((packet[2] ?? 0) & 0x02) === 0 ? 'answers' : 'truncated']++;
    });
  let sent = 0;
  await until('the flood is refused', async () => {
    // Each name less often than is usual for one.
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
  expect(await (await tcp(target, '127.0.9.1')).ask(www)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
});

it('so it is behind dnsdist', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const { dnsdist, guard } = await running(LIMITED);
  await expectLimited(guard.detector, dnsdist);
});

/** A threshold that rests on traffic, of an earlier run. */
function restThreshold(detector: AttackDetector): void {
  const nowMs = Date.now();
  detector.restore({ ...detector.learned(nowMs), rates: [[Math.floor(nowMs / MINUTE_MS) - 1, 20]] }, nowMs);
}

async function expectLimited(detector: AttackDetector, target: Target): Promise<void> {
  restThreshold(detector);
  const attacker = await udp('127.0.2.1');
  const user = await udp();
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
  await until('the flood is refused', async () => {
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
  expect(await (await tcp(target, '127.0.2.1')).ask(www)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
  expect(detector.attack).toBe(false);
}
