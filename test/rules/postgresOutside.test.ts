import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { QUIET } from '../../src/platform/logging/index.ts';
import { type Actor, exampleRule, type RulesStorage, StoreUnavailable } from '../../src/rules/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { CuttingProxy } from '../support/cuttingProxy.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { smallFileSystem, temporaryFolder } from '../support/smallFileSystem.ts';
import { until } from '../support/until.ts';
import { Outcomes } from './support/outcomes.ts';

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const MB = 1024 * 1024;

const open = async (url: string): Promise<RulesStorage> => {
  const storage = await openPostgresRules({ url }, { log: QUIET });
  onTestFinished(() => storage.close());
  return storage;
};

describe.skipIf(postgresFolder === undefined)(
  `what can happen around a PostgreSQL${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await Postgres.start();
    });
    afterAll(() => postgres?.remove());
    beforeEach(async () => {
      await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
    });

    it('a failover to a synchronous standby loses nothing that was acknowledged, and nobody starts anew', async () => {
      const primary = await Postgres.start();
      onTestFinished(() => primary.remove());
      const standby = await Postgres.follow(primary);
      onTestFinished(() => standby.remove());
      await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await primary.query('SELECT pg_reload_conf()');
      await until('it waits for the standby', async () => {
        const [row] = await primary.query(
          `SELECT count(*)::int AS count FROM pg_stat_replication WHERE sync_state = 'sync'`,
        );
        return row?.['count'] === 1;
      });
      const proxy = await CuttingProxy.start(primary.port);
      const url = primary.url({ port: proxy.port });
      const instances = [await open(url), await open(url)];
      onTestFinished(() => proxy.stop());
      const outcomes = new Outcomes();
      let isOver = false;
      const writers = instances.flatMap((instance, index) =>
        Array.from({ length: 3 }, () => outcomes.write(instance, `failover-${index}`, () => isOver)),
      );
      await until('enough is acknowledged', () => outcomes.acknowledged.length > 60);
      await primary.kill();
      // Before it is promoted servers read from it, and change nothing.
      proxy.leadTo(standby.port);
      await until(
        'the standby is read from',
        async () => (await instances[0]?.rules.list('failover-0'))?.length,
      );
      await expect(instances[0]?.probe()).rejects.toBeInstanceOf(StoreUnavailable);
      const before = outcomes.acknowledged.length;
      await standby.query('SELECT pg_promote()');
      await until('they write again', () => outcomes.acknowledged.length > before + 60);
      isOver = true;
      await Promise.all(writers);
      await outcomes.expectHeld(instances[1] as RulesStorage);
    });

    it('a full disk refuses changes and loses nothing; with room again they are taken', async (context) => {
      const { folder } = smallFileSystem(context, 100 * MB);
      execFileSync('chmod', ['755', folder]);
      const full = await Postgres.start(['max_wal_size=8MB', 'min_wal_size=2MB', 'wal_recycle=off'], folder);
      onTestFinished(() => full.remove());
      const storage = await open(full.url());
      const outcomes = new Outcomes();
      let isOver = false;
      const writers = Array.from({ length: 4 }, () => outcomes.write(storage, 'full', () => isOver));
      await until('some is acknowledged', () => outcomes.acknowledged.length > 20);
      const filler = join(folder, 'filler');
      let isRefused = false;
      while (!isRefused) {
        fill(filler);
        isRefused = await storage.rules.create('filling', { ...exampleRule }, { actor }).then(
          () => false,
          (error: unknown) => error instanceof StoreUnavailable,
        );
      }
      expect((await storage.rules.list('full')).length).toBeGreaterThanOrEqual(0);
      rmSync(filler);
      // It may have ended itself, as it does where it cannot write its log.
      await until('changes are taken', async () => {
        if (full.hasEnded) await full.restart();
        return storage.rules.create('after', exampleRule, { actor }).then(
          () => true,
          () => false,
        );
      });
      isOver = true;
      await Promise.all(writers);
      await outcomes.expectHeld(storage);
    });

    it('a slow network makes changes slow, and no more than that', async () => {
      const proxy = await CuttingProxy.start(postgres.port);
      const slow = await open(postgres.url({ port: proxy.port }));
      onTestFinished(() => proxy.stop());
      const fast = await open(postgres.url());
      const heard: string[] = [];
      slow.rules.onChange((account) => heard.push(account));
      proxy.delayMs = 100;
      const made = await Promise.all(
        [slow, fast, slow, fast].map(({ rules }, index) =>
          rules.create(`slow-${index % 2}`, exampleRule, { actor }),
        ),
      );
      expect(new Set(made.map(({ rule }) => rule.modified_on)).size).toBe(4);
      await until('the slow one has heard of it', () => heard.includes('slow-1'));
      expect(await slow.rules.list('slow-1')).toHaveLength(2);
      expect(await fast.rules.list('slow-0')).toHaveLength(2);
      await slow.probe();
      expect(slow.staleSeconds).toBeUndefined();
    });

    it('TLS is asked for as it is configured: a wrong authority, or a certificate for another host, is refused', async () => {
      const folder = temporaryFolder();
      const [own, other] = [authority(folder, 'own'), authority(folder, 'other')];
      const here = certificate(folder, own, 'IP:127.0.0.1');
      const elsewhere = certificate(folder, own, 'DNS:db.example');
      const serve = async ({ cert, key }: Certificate): Promise<void> => {
        const files = [postgres.put('server.pem', cert), postgres.put('server.key', key)];
        await postgres.query(`ALTER SYSTEM SET ssl_cert_file = '${files[0]}'`);
        await postgres.query(`ALTER SYSTEM SET ssl_key_file = '${files[1]}'`);
        await postgres.query('ALTER SYSTEM SET ssl = on');
        await postgres.stop();
        await postgres.restart();
      };
      const url = (mode: string, ca?: Authority): string =>
        `${postgres.url()}?sslmode=${mode}${ca === undefined ? '' : `&sslrootcert=${ca.certFile}`}`;
      await serve(here);
      const { rules } = await open(url('verify-full', own));
      await rules.create('a', exampleRule, { actor });
      const plain = `SELECT count(*)::int AS plain FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE application_name = 'floodgate' AND NOT ssl`;
      expect(await postgres.query(plain)).toEqual([{ plain: 0 }]);
      for (const mode of ['verify-full', 'verify-ca', 'require']) {
        await expect(open(url(mode, other))).rejects.toBeInstanceOf(StoreUnavailable);
        await expect(open(url(mode, other))).rejects.toThrow(/certificate/);
      }
      await expect(open(url('verify-full'))).rejects.toThrow(/certificate/);
      await (await open(url('require'))).probe();
      await serve(elsewhere);
      await expect(open(url('verify-full', own))).rejects.toThrow(/does not match certificate/);
      await (await open(url('verify-ca', own))).probe();
    });

    it('a database of the release before is brought up, and that release can go on beside this one', async () => {
      // What it made, and what it says to it.
      const before = readFileSync(new URL('./support/postgresFormat1.sql', import.meta.url), 'utf8');
      const [schema = '', ...statements] = before.split('-- says:');
      await postgres.query(schema);
      const { rules, shared } = await open(postgres.url());
      const [rule] = await rules.list('before');
      expect(rule?.name).toBe('before');
      const heard: string[] = [];
      rules.onChange((account) => heard.push(account));
      for (const statement of statements) await postgres.query(statement);
      await until('what it changes is heard of', () => heard.includes('before'));
      expect((await rules.list('before')).map(({ mode }) => mode)).toEqual(['disabled']);
      await shared?.keys.change('hash', () => ({ id: 'key' }));
      const { rule: after } = await rules.create('before', exampleRule, { actor });
      // Its look at what has changed.
      const [seen] = await postgres.query(statements[0] ?? '');
      expect(seen?.['rules_changed_at']).toBe(seen?.['moment']);
      expect(after.modified_on > (rule?.modified_on ?? '')).toBe(true);
      const [format] = await postgres.query('SELECT version, oldest_user FROM floodgate.format');
      expect(format).toMatchObject({ oldest_user: 1 });
    });
  },
);

/** Until there is no room for a byte. */
function fill(file: string): void {
  for (let size = MB; size >= 1; size = Math.floor(size / 2))
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Less fits.
    }
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Authority {
  readonly certFile: string;
  readonly keyFile: string;
}

const openssl = (...args: string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function authority(folder: string, name: string): Authority {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-keyout',
    keyFile,
    '-out',
    certFile,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  );
  return { certFile, keyFile };
}

function certificate(folder: string, { certFile, keyFile }: Authority, subject: string): Certificate {
  const [key, cert] = [join(folder, 'server.key'), join(folder, 'server.pem')];
  openssl(
    ...['req', '-x509', ...NEW_KEY, '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=server'],
    ...['-CA', certFile, '-CAkey', keyFile, '-addext', `subjectAltName=${subject}`],
  );
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
