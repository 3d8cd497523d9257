/** A flood of one known name from one client: names say nothing of it, only who asks does. */
import { expect, it } from 'vitest';
import type { AttackDetector } from '../../src/dns/detector/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
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

it('so it is behind dnsdist', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const { dnsdist, guard } = await running(LIMITED);
  await expectLimited(guard.detector, dnsdist);
});

async function expectLimited(detector: AttackDetector, target: Target): Promise<void> {
  // A threshold that rests on traffic, of an earlier run.
  const nowMs = Date.now();
  detector.restore({ ...detector.learned(nowMs), rates: [[Math.floor(nowMs / MINUTE_MS) - 1, 20]] }, nowMs);
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
