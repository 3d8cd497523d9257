/** What every data plane does, whoever carries the packets: the controller relies on nothing else. */
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
import { QueryType, questionOf } from '../../../src/dns/protocol/index.ts';
import { until } from '../../support/until.ts';
import { query, RCODE, type Target, UdpClient } from './dnsClient.ts';
import { atEnd } from './ends.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './guardInFront.ts';

/** A data plane that can be made again and again, in front of a server with the zone of `ZONE_TEXT`. */
export interface PlaneUnderTest {
  readonly dataPlane: MakeDataPlane;
  /** Where DNS is answered, for a data plane that has no address of its own. */
  readonly target?: Target;
}

const ROUND = 100;

export function dataPlaneContract(prepare: () => Promise<PlaneUnderTest>): void {
  async function started(zones: readonly string[], rules = new TestRules([RULE])) {
    const { dataPlane, target } = await prepare();
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    atEnd(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'zone');
    await writeFile(file, ZONE_TEXT);
    const options = { place: {}, zones: zones.map((name) => ({ name, file })) };
    const start = (others: Pick<GuardDependencies, 'rules'> = { rules }): Promise<Guard> =>
      startGuard(options, { dataPlane, ...others });
    // One that cannot start leaves everything free for the next.
    const unreadable = { list: () => Promise.reject(new Error('no rules')), onChange: () => () => {} };
    await expect(start({ rules: unreadable })).rejects.toThrow('no rules');
    const guard = await start();
    atEnd(() => guard.stop());
    await guard.seeding.tried;
    const client = await new UdpClient().open();
    atEnd(() => client.close());
    const at = guard.dataPlane.addresses[0] ?? target;
    if (at === undefined) throw new Error('nobody says where DNS is answered');
    return { guard, rules, client, target: at };
  }

  let sent = 0;
  /** Sends random names and then asks for a known one; resolves with how many of the random ones were answered. */
  async function round({ client, target }: { client: UdpClient; target: Target }): Promise<number> {
    client.answers.clear();
    for (let i = 0; i < ROUND; i++, sent++)
      client.send(query(`x${sent}.${ZONE_NAME}`, QueryType.A, 1000 + (sent % 50_000)), target);
    const known = await client.ask(query(`h7.${ZONE_NAME}`, QueryType.A, 1), target);
    expect(known).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
    await client.wait(() => client.answers.size > ROUND, 50);
    return client.answers.size - 1;
  }

  describe('a data plane', () => {
    it('answers known names while it refuses unknown ones, and does as the rule says that is changed', async () => {
      const all = await started([ZONE_NAME]);
      const { guard, rules } = all;
      const refused = () => until('unknown names are refused', async () => (await round(all)) < ROUND / 2);
      const answered = () => until('they are answered', async () => (await round(all)) > ROUND * 0.9);
      await refused();
      await until('the detector sees an attack', async () => {
        await round(all);
        return guard.detector.attack;
      });
      rules.set({ ...RULE, mode: 'monitoring' });
      await answered();
      rules.set(RULE);
      await refused();
      rules.set();
      await answered();
    });

    it('tells what an attack costs, and for what', async () => {
      const all = await started([ZONE_NAME]);
      const attack = await until('the attack is known, with its top', async () => {
        await round(all);
        const [known] = all.guard.attacks.open();
        return known !== undefined && known.refused > ROUND && known.top.weight > 0 && known;
      });
      expect(attack).toMatchObject({ zones: [ZONE_NAME], state: 'active', rule: { id: RULE.id } });
      expect(attack.known_names).toMatchObject({ refused: 0 });
      expect(attack.top.names[0]?.value).toMatch(/^\[0-9a-z\]\{\d-\d\}\.example\.test$/);
      expect(attack.top.networks).toMatchObject([{ value: '127.0.0.0/24' }]);
      expect(attack.sampled_names[0]).toMatchObject({ type: 'A', network: '127.0.0.0/24' });
    });

    it('shows the detector every query and every answer', async () => {
      const { guard, client, target } = await started([], new TestRules([]));
      const registry = new Registry();
      registerGuardMetrics(guard, registry);
      const other = await new UdpClient().open('127.0.1.1');
      atEnd(() => other.close());
      const knows = (name: string): boolean => {
        const { hashHigh, hashLow } = questionOf(`${name}.${ZONE_NAME}`, QueryType.A, guard.detector.key);
        return guard.detector.profile.find(hashHigh, hashLow) >= 0;
      };
      // A negative answer names its zone; a name is known when two networks asked for it. Again and again, as what another
      // program tells of its packets may begin to come a moment later.
      await until('the name is known', async () => {
        for (const [id, asking] of [client, other].entries())
          for (const name of ['none', 'www'])
            await asking.ask(query(`${name}.${ZONE_NAME}`, QueryType.A, id), target);
        return knows('www');
      });
      expect(knows('none')).toBe(false);
      expect(guard.detector.zones.get(ZONE_NAME)).toBeDefined();
      await until('every query is counted', () => guard.detector.verdicts.reduce((a, b) => a + b) >= 4);
      expect(await registry.metrics()).toContain('floodgate_dns_profile_names 1\n');
    });
  });
}
