import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { InvalidAnalyticsQuery, type MinuteRecord } from '../../src/dns/analytics/index.ts';
import type { Attack } from '../../src/dns/attacks/index.ts';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { FleetMember, FleetReporter, MAX_MINUTES_READ, ReportingStore } from '../../src/dns/fleet/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { PostgresFleet } from '../../src/dns/store/postgres/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import type { RulesStorage } from '../../src/rules/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { call } from '../rules/support/call.ts';
import { clientEnvironment, floodgate } from '../rules/support/command.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type RulesServer, startServer } from '../rules/support/server.ts';
import { HANG_MS } from '../support/hang.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { until } from '../support/until.ts';
import { query, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NOW = Date.now();
const THIS_MINUTE = Math.floor(NOW / MINUTE_MS);
const RULE = '3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad';
const SINCE_LONG_AGO = { account: 'a', ruleId: RULE, fromMinute: 0, toMinute: Number.MAX_SAFE_INTEGER };

describe.skipIf(postgresFolder === undefined)(
  `guards that share a PostgreSQL database${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await Postgres.start();
    });
    afterAll(() => postgres?.remove());

    describe('and report to it', () => {
      let storage: RulesStorage;
      let fleet: PostgresFleet;
      beforeEach(async () => {
        await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
        storage = await openPostgresRules({ url: postgres.url() }, { log: QUIET });
        onTestFinished(() => storage.close());
        if (storage.shared === undefined) throw new Error('the rules storage has no shared database');
        fleet = new PostgresFleet(storage.shared);
      });

      interface GuardOptions {
        readonly folder?: string;
        readonly region?: string;
        readonly account?: string;
        readonly now?: () => number;
      }

      /** Starts the parts of a guard that report to the database; there is no data plane. */
      const guard = async ({
        folder = temporaryFolder(),
        region,
        account = 'a',
        now = Date.now,
      }: GuardOptions) => {
        const local = DnsStore.open(folder);
        const self = await FleetMember.open(
          { account, place: { region }, version: '1.2.3', dataPlane: 'embedded' },
          { identities: local, rule: () => undefined, now },
        );
        const reporter = new FleetReporter({ fleet, self, local, log: QUIET, now });
        const store = new ReportingStore(local);
        store.reporter = reporter;
        let isClosed = false;
        const close = async (): Promise<void> => {
          if (isClosed) return;
          isClosed = true;
          await reporter.stop(1000);
          await local.close();
        };
        onTestFinished(close);
        return { local, self, reporter, store, close };
      };
      const reported = async (asked = {}): Promise<[string | undefined, number, number][]> => {
        const found: [string | undefined, number, number][] = [];
        for await (const { place, record } of fleet.minutes({ ...SINCE_LONG_AGO, ...asked }))
          found.push([place.region, record.minute, record.verdicts[0]?.[1] ?? 0]);
        return found;
      };

      it('store each minute once, catch up in order after an outage, and add what they count after a restart', async () => {
        const folder = temporaryFolder();
        const first = await guard({ folder, region: 'WEUR' });
        await first.store.append([minute(-3, 5)]);
        await first.reporter.report();
        await first.reporter.report();
        expect(await reported()).toEqual([['WEUR', THIS_MINUTE - 3, 5]]);
        await postgres.stop();
        await until('the database to be unreachable', () => storage.staleSeconds !== undefined);
        await first.store.append([minute(-2, 7)]);
        await first.store.append([minute(-1, 9)]);
        await first.reporter.report();
        const { id } = first.self;
        await first.close();
        await postgres.restart();
        await until('the database to be reachable', () => storage.staleSeconds === undefined);

        // The first guard stopped before it could report; its data folder still has the unreported minutes.
        const again = await guard({ folder, region: 'WEUR' });
        expect(again.self.id).toBe(id);
        await again.store.append([minute(-1, 1)]);
        await again.reporter.report();
        const all = [
          ['WEUR', THIS_MINUTE - 3, 5],
          ['WEUR', THIS_MINUTE - 2, 7],
          ['WEUR', THIS_MINUTE - 1, 10],
        ];
        expect(await reported()).toEqual(all);
        expect(again.reporter.reportedUntil).toBe(THIS_MINUTE - 1);

        // Simulates a failover to a standby that lags by two minutes.
        await postgres.query(`DELETE FROM floodgate.minutes WHERE minute > ${THIS_MINUTE - 3}`);
        await postgres.stop();
        await until('the database to be unreachable', () => storage.staleSeconds !== undefined);
        await again.reporter.report();
        await postgres.restart();
        await until('the database to be reachable', () => storage.staleSeconds === undefined);
        await again.reporter.report();
        expect(await reported()).toEqual(all);
      });

      it('split a long backlog into several writes, and add to an old minute after the clock was set back', async () => {
        const { reporter, store } = await guard({});
        const many = Array.from({ length: 1_200 }, (_, index) => minute(index - 1_200, 1));
        await store.append(many);
        await reporter.report();
        expect(await reported()).toHaveLength(1_200);
        await store.append([minute(-600, 3)]);
        await reporter.report();
        expect((await reported()).find(([, at]) => at === THIS_MINUTE - 600)?.[2]).toBe(4);
      });

      it('store minutes by location and by account', async () => {
        const guards = [
          await guard({ region: 'WEUR' }),
          await guard({ region: 'WNAM' }),
          await guard({ region: 'WNAM', account: 'b' }),
        ];
        for (const [index, { store, reporter }] of guards.entries()) {
          await store.append([minute(-1, index + 1)]);
          await reporter.report();
        }
        expect(await reported()).toHaveLength(2);
        expect(await reported({ region: 'WNAM' })).toEqual([['WNAM', THIS_MINUTE - 1, 2]]);
        expect(await reported({ region: 'nowhere' })).toEqual([]);
        expect(await reported({ account: 'b' })).toEqual([['WNAM', THIS_MINUTE - 1, 3]]);
      });

      it('report the current state of attacks, including attacks that started and ended during an outage', async () => {
        const { reporter, store } = await guard({ region: 'WEUR' });
        await store.putAttacks([attack('11111111-0000-4000-8000-000000000000', 1, 'active')]);
        await reporter.report();
        await postgres.stop();
        await until('the database to be unreachable', () => storage.staleSeconds !== undefined);
        await store.putAttacks([attack('11111111-0000-4000-8000-000000000000', 1, 'ended')]);
        await store.putAttacks([attack('22222222-0000-4000-8000-000000000000', 0.5, 'ended')]);
        await reporter.report();
        await postgres.restart();
        await until('the database to be reachable', () => storage.staleSeconds === undefined);
        await reporter.report();
        const { result, total } = await fleet.attacks({ account: 'a', page: 1, perPage: 10 });
        expect(total).toBe(2);
        expect(result.map(({ attack: { id, state }, place }) => [id[0], state, place.region])).toEqual([
          ['2', 'ended', 'WEUR'],
          ['1', 'ended', 'WEUR'],
        ]);
        const page = await fleet.attacks({ account: 'a', page: 2, perPage: 1, region: 'WEUR' });
        expect(page.result[0]?.attack.id[0]).toBe('1');
        expect((await fleet.attacks({ account: 'b', page: 1, perPage: 10 })).total).toBe(0);
        expect(await fleet.attack('b', result[0]?.attack.id ?? '')).toBeUndefined();
        expect((await fleet.attack('a', result[0]?.attack.id ?? ''))?.attack.state).toBe('ended');
      });

      it('have unique ids: if two use copies of one data folder, the younger takes a new id', async () => {
        const [folder, copy] = [temporaryFolder(), temporaryFolder()];
        const elder = await guard({ folder });
        const identity = elder.local.identity();
        if (identity === undefined) throw new Error('the guard has no identity');
        const cloned = DnsStore.open(copy);
        await cloned.setIdentity(identity);
        await cloned.append([minute(-2, 5)]);
        await cloned.close();
        const clone = await guard({ folder: copy, now: () => Date.now() + 1000 });
        for (let round = 0; round < 2; round++)
          for (const { reporter } of [elder, clone]) await reporter.report();
        expect(elder.self.id).toBe(identity.id);
        expect(clone.self.id).not.toBe(identity.id);
        expect((await fleet.instances('a')).map(({ id }) => id).sort()).toEqual(
          [clone.self.id, identity.id].sort(),
        );
      });

      it('take a new id if their account changes: earlier minutes remain with the first account', async () => {
        const folder = temporaryFolder();
        const before = await guard({ folder });
        await before.store.append([minute(-5, 5)]);
        await before.reporter.report();
        await before.close();
        const after = await guard({ folder, account: 'b' });
        await after.reporter.report();
        expect(after.self.id).not.toBe(before.self.id);
        expect(await reported({ account: 'b' })).toEqual([]);
        expect(await reported()).toHaveLength(1);
      });

      it('are shown as down after 30 seconds without a report, until the next report', async () => {
        const { reporter } = await guard({});
        const isUp = async () => (await fleet.instances('a')).map(({ is_up }) => is_up);
        await reporter.report();
        expect(await isUp()).toEqual([true]);
        await postgres.query(`UPDATE floodgate.instances SET last_seen = now() - interval '31 seconds'`);
        expect(await isUp()).toEqual([false]);
        await reporter.report();
        expect(await isUp()).toEqual([true]);
      });

      it('make the store reject a query that would read more than MAX_MINUTES_READ minutes', async () => {
        const insert = (first: number, last: number): Promise<unknown> =>
          postgres.query(`INSERT INTO floodgate.minutes SELECT 'a', '${RULE}', g, 'guard', '', '',
          json_build_object('minute', g, 'verdicts', '[[0, 1]]'::json) FROM generate_series(${first}, ${last}) AS g`);
        await insert(1, MAX_MINUTES_READ - 1);
        expect(await reported()).toHaveLength(MAX_MINUTES_READ - 1);
        await insert(MAX_MINUTES_READ, MAX_MINUTES_READ + 1);
        await expect(reported()).rejects.toBeInstanceOf(InvalidAnalyticsQuery);
        expect(await reported({ fromMinute: MAX_MINUTES_READ })).toHaveLength(2);
      });

      it('have their minutes deleted after a week, their attacks after 90 days, and their entries a week after the last report', async () => {
        const { reporter, store } = await guard({});
        await store.putAttacks([attack('11111111-0000-4000-8000-000000000000', 89)]);
        await store.append([minute(-1, 1)]);
        await reporter.report();
        await postgres.query(`UPDATE floodgate.instances SET last_seen = now() - interval '8 days'`);
        await fleet.deleteExpired(Date.now() + 2 * DAY_MS);
        expect((await fleet.attacks({ account: 'a', page: 1, perPage: 10 })).total).toBe(0);
        expect(await fleet.instances('a')).toEqual([]);
        expect(await reported()).toHaveLength(1);
        await fleet.deleteExpired(Date.now() + 8 * DAY_MS);
        expect(await reported()).toEqual([]);
      });
    });

    describe('and serve the API', () => {
      let authority: AuthorityServer;
      let client: UdpClient;
      const servers: RulesServer[] = [];
      const path = rulesPath('a');
      const guardPath = path.replace(/rules$/, '');

      beforeAll(async () => {
        await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
        authority = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
        client = await new UdpClient().open();
        const store = ['--rules-store', postgres.url()];
        const guarding = (region: string, datacenter: string): string[] => [
          ...store,
          '--dns-account',
          'a',
          '--dns-listen',
          '127.0.0.1:0',
          '--dns-region',
          region,
          '--dns-datacenter',
          datacenter,
          '--dns-servers',
          `${authority.host}:${authority.port}`,
        ];
        servers.push(
          await startServer({ args: guarding('WEUR', 'AMS') }),
          await startServer({ args: guarding('WNAM', 'SJC') }),
          await startServer({ args: store }),
        );
      });
      afterAll(async () => {
        client?.close();
        await Promise.all(servers.map((server) => server.stop()));
        await authority?.stop();
      });
      const ask = async ({ dnsPort }: RulesServer, queries: number): Promise<void> => {
        for (let id = 1; id <= queries; id++)
          // Without retries, because each query counts.
          await client.ask(query(`www.${ZONE_NAME}`, 1, id), { host: '127.0.0.1', port: dnsPort }, HANG_MS);
      };
      const got = async (server: RulesServer, where: string) =>
        (await call(server, { path: where })).json.result;

      it('enforce the rule of their location, and every server returns the counts of all guards, by location', async () => {
        const [here, there, alone] = servers as [RulesServer, RulesServer, RulesServer];
        const made = (body: object) => call(alone, { method: 'POST', path, body });
        // The regional rule is created first, so that the guards of its region never enforce the global rule.
        const local = (await made({ ...newRule, scope: 'region', name: 'WNAM', mode: 'monitoring' })).json
          .result;
        const global = (await made(newRule)).json.result;
        const fleet = await until('both guards to report their rules', async () => {
          const reported = await got(alone, `${guardPath}fleet`);
          const rules = reported.map(({ rule }: { rule?: { id: string } }) => rule?.id);
          return rules.includes(global.id) && rules.includes(local.id) && reported;
        });
        expect(fleet).toHaveLength(2);
        const [mine] = fleet.filter(({ region }: { region: string }) => region === 'WEUR');
        expect(mine).toMatchObject({ datacenter: 'AMS', is_up: true, data_plane: 'embedded' });
        expect(mine.rule).toMatchObject({ id: global.id, mode: 'enabled' });
        expect(mine.rule_since >= mine.started_on).toBe(true);
        const listed = await floodgate(['fleet'], { env: clientEnvironment(there, 'a') });
        expect(listed.stdout).toMatch(/WNAM +SJC +up .*monitoring/);
        const json = await floodgate(['fleet', '--json'], { env: clientEnvironment(here, 'a') });
        expect(
          json.stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line).id)
            .sort(),
        ).toEqual(fleet.map(({ id }: { id: string }) => id).sort());
        expect(await got(here, `${guardPath.replace('/a/', '/b/')}fleet`)).toEqual([]);

        await ask(here, 3);
        await ask(there, 4);
        const analytics = `${path}/${global.id}/analytics`;
        const own = await until('the guard to include its own unreported counts', async () => {
          const answer = await got(here, analytics);
          return answer.totals.passed === 3 && answer;
        });
        expect([own.complete, own.now.in_force]).toEqual([true, true]);
        // A guard reports the remaining counts when it stops.
        await here.stop();
        servers.splice(0, 1);
        const elsewhere = await got(alone, analytics);
        expect(elsewhere.totals.passed).toBe(3);
        expect(elsewhere.places).toMatchObject([{ region: 'WEUR', datacenter: 'AMS', instances: 1 }]);
        expect(elsewhere).not.toHaveProperty('now');
        expect((await got(there, `${analytics}?region=WNAM`)).totals.passed).toBe(0);
        expect((await got(there, analytics)).now.in_force).toBe(false);
        expect((await got(there, `${path}/${local.id}/analytics`)).totals.passed).toBe(4);
        expect((await call(alone, { path: `${guardPath}status` })).status).toBe(404);
        expect((await call(alone, { path: `${analytics}?name=x.test` })).status).toBe(400);
        expect(
          (await call(alone, { path: `${guardPath}attacks?region=WEUR` })).json.result_info.total_count,
        ).toBe(0);
      });

      it('return their own counts while the database is unreachable', async () => {
        const [there] = servers as [RulesServer];
        const [rule] = (await got(there, path)).filter(({ name }: { name: string }) => name === 'WNAM');
        await postgres.stop();
        const analytics = await until('the database to be unreachable', async () => {
          const answer = await call(there, { path: `${path}/${rule.id}/analytics` });
          return 'floodgate-stale' in answer.headers && answer.json.result;
        });
        expect([analytics.complete, analytics.totals.passed]).toEqual([false, 4]);
        expect((await call(there, { path: `${guardPath}attacks` })).status).toBe(200);
        expect((await call(there, { path: `${guardPath}fleet` })).status).toBe(503);
        await postgres.restart();
        await until(
          'the database to be reachable',
          async () => (await got(there, `${path}/${rule.id}/analytics`))?.complete,
        );
      });
    });
  },
);

function minute(offset: number, queries: number): MinuteRecord {
  return {
    ruleId: RULE,
    minute: THIS_MINUTE + offset,
    verdicts: [[0, queries]],
    profileNames: 1,
    ratePerSecond: 100,
    burst: 500,
    attackedZones: ['example.test'],
  };
}

function attack(id: string, daysAgo: number, state: Attack['state'] = 'ended'): Attack {
  const began = new Date(NOW - daysAgo * DAY_MS).toISOString();
  const none = { queries: 0, unknown_names: 0, limited: 0, would_drop: 0 };
  return {
    id,
    state,
    zones: ['example.test'],
    zone_count: 1,
    detected_by: 'unknown_rate',
    started_on: began,
    last_seen_on: began,
    ...(state === 'ended' && { ended_on: began }),
    now: none,
    peak: none,
    queries: 1,
    unknown_names: 1,
    limited: 1,
    would_drop: 0,
    limited_share: 1,
    known_names: { asked: 0, answered: 0, limited: 0, would_drop: 0 },
    response_codes: {},
    sampled_names: [],
    changes: [],
    top: { sampled: 0, weight: 0, names: [], types: [], networks: [] },
  };
}
