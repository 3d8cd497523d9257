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
  `the rules store on PostgreSQL, with faults of its environment${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await Postgres.start();
    });
    afterAll(() => postgres?.remove());
    beforeEach(async () => {
      await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
    });

    it('loses no acknowledged change in a failover to a synchronous standby, and reconnects', async () => {
      const primary = await Postgres.start();
      onTestFinished(() => primary.remove());
      const standby = await Postgres.follow(primary);
      onTestFinished(() => standby.remove());
      await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await primary.query('SELECT pg_reload_conf()');
      await until('synchronous replication', async () => {
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
      let isFinished = false;
      const writers = instances.flatMap((instance, index) =>
        Array.from({ length: 3 }, () => outcomes.write(instance, `failover-${index}`, () => isFinished)),
      );
      await until('60 acknowledged changes', () => outcomes.acknowledged.length > 60);
      await primary.kill();
      // Before its promotion, the standby can only be read.
      proxy.redirectTo(standby.port);
      await until(
        'rules read from the standby',
        async () => (await instances[0]?.rules.list('failover-0'))?.length,
      );
      await expect(instances[0]?.probe()).rejects.toBeInstanceOf(StoreUnavailable);
      const before = outcomes.acknowledged.length;
      await standby.query('SELECT pg_promote()');
      await until(
        '60 acknowledged changes after the promotion',
        () => outcomes.acknowledged.length > before + 60,
      );
      isFinished = true;
      await Promise.all(writers);
      await outcomes.expectConsistent(instances[1] as RulesStorage);
    });

    it('rejects changes while the disk of PostgreSQL is full, loses nothing, and accepts changes afterwards', async (context) => {
      const { folder } = smallFileSystem(context, 100 * MB);
      execFileSync('chmod', ['755', folder]);
      const full = await Postgres.start(['max_wal_size=8MB', 'min_wal_size=2MB', 'wal_recycle=off'], folder);
      onTestFinished(() => full.remove());
      const storage = await open(full.url());
      const outcomes = new Outcomes();
      let isFinished = false;
      const writers = Array.from({ length: 4 }, () => outcomes.write(storage, 'full', () => isFinished));
      await until('20 acknowledged changes', () => outcomes.acknowledged.length > 20);
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
      // PostgreSQL exits if it cannot write its WAL.
      await until('an accepted change', async () => {
        if (full.hasEnded) await full.restart();
        return storage.rules.create('after', exampleRule, { actor }).then(
          () => true,
          () => false,
        );
      });
      isFinished = true;
      await Promise.all(writers);
      await outcomes.expectConsistent(storage);
    });

    it('replicates all changes over a slow network', async () => {
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
      expect(new Set(made.map(({ item: rule }) => rule.modified_on)).size).toBe(4);
      await until('the notification of the slow instance', () => heard.includes('slow-1'));
      expect(await slow.rules.list('slow-1')).toHaveLength(2);
      expect(await fast.rules.list('slow-0')).toHaveLength(2);
      await slow.probe();
      expect(slow.staleSeconds).toBeUndefined();
    });

    it('uses TLS as configured, and rejects an unknown authority and a certificate for another host', async () => {
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
  },
);

/** Appends to a file until the disk is full. */
function fill(file: string): void {
  for (let size = MB; size >= 1; size = Math.floor(size / 2))
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Try a smaller size.
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
    'req',
    '-x509',
    ...NEW_KEY,
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    '-subj',
    '/CN=server',
    '-CA',
    certFile,
    '-CAkey',
    keyFile,
    '-addext',
    `subjectAltName=${subject}`,
  );
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
