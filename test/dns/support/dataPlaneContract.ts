/** Tests of the behaviour that the controller requires from every data plane. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import {
  type Guard,
  type GuardDependencies,
  registerGuardMetrics,
  startGuard,
} from '../../../src/dns/controller/index.ts';
import type { MakeDataPlane } from '../../../src/dns/dataplane/index.ts';
import { verdictOf } from '../../../src/dns/detector/index.ts';
import { QueryType, questionOf } from '../../../src/dns/protocol/index.ts';
import type { ZonePolicy } from '../../../src/rules/index.ts';
import { until } from '../../support/until.ts';
import { atEnd } from './atEnd.ts';
import { query, RCODE, type Target, UdpClient } from './dnsClient.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './guardInFront.ts';
import { zonePolicy } from './zonePolicy.ts';

/** A factory for data planes in front of a server with the zone of `ZONE_TEXT`. */
export interface PlaneUnderTest {
  readonly dataPlane: MakeDataPlane;
  /** Address on which DNS is answered, for a data plane without `addresses`. */
  readonly target?: Target;
}

const ROUND = 100;
/** A separate zone, because the seeded zone has a wildcard here. */
const WILDCARD = `users.${ZONE_NAME}`;

export function dataPlaneContract(prepare: () => Promise<PlaneUnderTest>): void {
  async function started(
    zones: readonly string[],
    rules = new TestRules([RULE]),
    policies: readonly ZonePolicy[] = [],
  ) {
    const { dataPlane, target } = await prepare();
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    atEnd(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'zone');
    await writeFile(file, ZONE_TEXT);
    const options = { place: {}, zones: zones.map((name) => ({ name, file })) };
    const zonePolicies = { list: () => policies, onChange: () => () => {} };
    const start = (others: Pick<GuardDependencies, 'rules'> = { rules }): Promise<Guard> =>
      startGuard(options, { dataPlane, zonePolicies, ...others });
    // A guard that fails to start must release everything for the next one.
    const unreadable = { list: () => Promise.reject(new Error('no rules')), onChange: () => () => {} };
    await expect(start({ rules: unreadable })).rejects.toThrow('no rules');
    const guard = await start();
    atEnd(() => guard.stop());
    await guard.seeding.tried;
    const client = await new UdpClient().open();
    atEnd(() => client.close());
    const at = guard.dataPlane.addresses[0] ?? target;
    if (at === undefined) throw new Error('the data plane has no address');
    return { guard, rules, client, target: at };
  }

  let sent = 0;
  /** Sends random names below `parent` and then a known one, and returns how many random names were answered. */
  async function round(
    { client, target }: { client: UdpClient; target: Target },
    parent = ZONE_NAME,
  ): Promise<number> {
    client.answers.clear();
    for (let i = 0; i < ROUND; i++, sent++)
      client.send(query(`x${sent}.${parent}`, QueryType.A, 1000 + (sent % 50_000)), target);
    // On a busy machine, dnsdist may take its only server for down for a second, and answer SERVFAIL.
    const known = await until('the known name to be answered', async () => {
      const answer = await client.ask(query(`h7.${ZONE_NAME}`, QueryType.A, 1), target);
      return answer.rcode !== RCODE.SERVFAIL && answer;
    });
    expect(known).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
    await client.wait(() => client.answers.size > ROUND, 50);
    return client.answers.size - 1;
  }

  describe('a data plane', () => {
    it('answers known names while it drops unknown ones, and applies a changed rule', async () => {
      const all = await started([ZONE_NAME]);
      const { guard, rules } = all;
      const limited = () => until('unknown names to be dropped', async () => (await round(all)) < ROUND / 2);
      const answered = () =>
        until('unknown names to be answered', async () => (await round(all)) > ROUND * 0.9);
      await limited();
      await until('the detector to report an attack', async () => {
        await round(all);
        return guard.detector.attack;
      });
      rules.set({ ...RULE, mode: 'monitoring' });
      await answered();
      rules.set(RULE);
      await limited();
      rules.set();
      await answered();
    });

    it('passes new names under a wildcard until the zone has a baseline', async () => {
      const all = await started([ZONE_NAME]);
      const { detector } = all.guard;
      // The rule is in force as soon as names outside the wildcard are dropped.
      await until('unknown names to be dropped', async () => (await round(all)) < ROUND / 2);
      const counted = (outcome: 'paid' | 'dropped'): number =>
        (all.guard.dataPlane.verdicts?.() ?? detector.verdicts)[verdictOf(outcome, 'zoneRate')] ?? 0;
      await until('more queries to pass than the smallest bucket holds', async () => {
        for (let n = 0; n < 10; n++) await round(all, WILDCARD);
        return counted('paid') > 1000;
      });
      expect(counted('dropped')).toBe(0);
      expect(detector.zones.get(WILDCARD)?.isReported(Date.now())).toBe(false);
    });

    it('limits new names under a wildcard at once if a policy sets their rate', async () => {
      const policy = zonePolicy({ zone: WILDCARD, rate: 10, burst: 20 });
      const all = await started([ZONE_NAME], new TestRules([RULE]), [policy]);
      await until(
        'the names under the wildcard to be limited',
        async () => (await round(all, WILDCARD)) < ROUND / 2,
      );
      await until('the attack to be reported', async () => {
        await round(all, WILDCARD);
        const [attack] = all.guard.attacks.open();
        return attack?.zones.includes(WILDCARD);
      });
      expect(all.guard.attacks.open()[0]).toMatchObject({ detected_by: 'zone_rate' });
    });

    it('reports the cost of an attack for users, and its top names and networks', async () => {
      const all = await started([ZONE_NAME]);
      const attack = await until('the attack to be reported with samples', async () => {
        await round(all);
        const [known] = all.guard.attacks.open();
        return known !== undefined && known.limited > ROUND && known.top.weight > 0 && known;
      });
      expect(attack).toMatchObject({ zones: [ZONE_NAME], state: 'active', rule: { id: RULE.id } });
      // Each round queries a known name and waits for its answer.
      const { asked } = attack.known_names;
      expect(asked).toBeGreaterThan(0);
      expect(attack.known_names).toEqual({ asked, answered: asked, limited: 0, would_drop: 0 });
      expect(attack.top.names[0]?.value).toMatch(/^\[0-9a-z\]\{\d-\d\}\.example\.test$/);
      expect(attack.top.networks).toMatchObject([{ value: '127.0.0.0/24' }]);
      expect(attack.sampled_names[0]).toMatchObject({ type: 'A', network: '127.0.0.0/24' });
    });

    it('reports every query and every answer to the detector', async () => {
      const { guard, client, target } = await started([], new TestRules([]));
      const registry = new Registry();
      registerGuardMetrics(guard, registry);
      const other = await new UdpClient().open('127.0.1.1');
      atEnd(() => other.close());
      const knows = (name: string): boolean => {
        const { hashHigh, hashLow } = questionOf(`${name}.${ZONE_NAME}`, QueryType.A, guard.detector.key);
        return guard.detector.profile.find(hashHigh, hashLow) >= 0;
      };
      // A negative answer contains its zone, and a name is known after two networks have queried it. This is repeated
      // because the reports of another program may begin a moment later.
      await until('the name to be known', async () => {
        for (const [id, asking] of [client, other].entries())
          for (const name of ['none', 'www'])
            await asking.ask(query(`${name}.${ZONE_NAME}`, QueryType.A, id), target);
        return knows('www');
      });
      expect(knows('none')).toBe(false);
      expect(guard.detector.zones.get(ZONE_NAME)).toBeDefined();
      await until('every query to be counted', () => guard.detector.verdicts.reduce((a, b) => a + b) >= 4);
      expect(await registry.metrics()).toContain('floodgate_dns_profile_names 1\n');
    });
  });
}
