import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { QUIET } from '../../src/platform/logging/index.ts';
import { type Actor, exampleRule, type RulesStorage, StoreUnavailable } from '../../src/rules/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { hasPgbouncer, Pgbouncer } from '../support/pgbouncer.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { until } from '../support/until.ts';
import { Outcomes } from './support/outcomes.ts';

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const WITHOUT_PGBOUNCER = hasPgbouncer ? '' : ' (pgbouncer is not installed)';

const open = async (url: string, listenUrl?: string): Promise<RulesStorage> => {
  const storage = await openPostgresRules({ url, listenUrl }, { log: QUIET });
  onTestFinished(() => storage.close());
  return storage;
};

describe.skipIf(postgresFolder === undefined)(`several hosts and poolers${WITHOUT_POSTGRES}`, () => {
  let primary: Postgres;
  beforeAll(async () => {
    primary = await Postgres.start();
  });
  afterAll(() => primary?.remove());

  it.skipIf(!hasPgbouncer)(
    `changes and notices pass pgbouncer in transaction mode, with LISTEN on a direct connection${WITHOUT_PGBOUNCER}`,
    async () => {
      const folder = temporaryFolder();
      chmodSync(folder, 0o755);
      const pooler = await Pgbouncer.start(primary, folder);
      onTestFinished(() => pooler.stop());
      const url = primary.url({ port: pooler.port });
      const [here, there] = [await open(url, primary.url()), await open(url, primary.url())];
      const heard: string[] = [];
      here.rules.onChange((account) => heard.push(account));
      const outcomes = new Outcomes();
      let isFinished = false;
      const writers = [here, there].flatMap((instance, index) =>
        Array.from({ length: 3 }, () => outcomes.write(instance, `pooled-${index}`, () => isFinished)),
      );
      await until('60 acknowledged changes', () => outcomes.acknowledged.length > 60);
      isFinished = true;
      await Promise.all(writers);
      await outcomes.expectConsistent(here);
      expect(heard).toContain('pooled-1');
      const [listening] = await primary.query(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`,
      );
      expect(listening).toEqual({ count: 2 });
      const before = await here.rules.list('pooled-0');
      await pooler.stop();
      await until('an outage', async () => {
        await here.rules.create('pooled-0', exampleRule, { actor }).catch(() => undefined);
        return here.staleSeconds !== undefined;
      });
      expect(await here.rules.list('pooled-0')).toEqual(before);
    },
  );

  it('changes go to the host that accepts writes, before and after a failover', async () => {
    const standby = await Postgres.follow(primary);
    onTestFinished(() => standby.remove());
    const { username, password } = new URL(primary.url());
    const urlOf = (...ports: number[]) =>
      `postgres://${username}:${password}@${ports.map((port) => `127.0.0.1:${port}`)}/postgres`;
    const attributes = '?target_session_attrs=read-write';
    // The first host does not exist, the second is a standby.
    const url = urlOf(9, standby.port, primary.port) + attributes;
    const { rules, probe } = await open(url);
    const { item: rule } = await rules.create('hosts', exampleRule, { actor });
    await probe();
    expect(await rules.list('hosts')).toEqual([rule]);
    await until('the change at the standby', async () => {
      const [row] = await standby.query(
        `SELECT count(*)::int AS n FROM floodgate.rules WHERE account = 'hosts'`,
      );
      return row?.['n'] === 1;
    });
    await primary.kill();
    const failed = await rules.create('hosts', exampleRule, { actor }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreUnavailable);
    expect(String(failed)).not.toContain(decodeURIComponent(password));
    expect(await rules.list('hosts')).toEqual([rule]);
    await standby.query('SELECT pg_promote()');
    const again = await until('a change after the failover', () =>
      rules.create('hosts', exampleRule, { actor }).catch(() => undefined),
    );
    expect(await rules.list('hosts')).toContainEqual(again.item);
    await expect(open(urlOf(9, primary.port))).rejects.toThrow(/ECONNREFUSED/);
  });
});
