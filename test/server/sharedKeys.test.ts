import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type ApiKey,
  hashOfSecret,
  KeysUnavailableError,
  SharedKeys,
} from '../../src/ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { type RulesStorage, StoreUnavailable } from '../../src/rules/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** A URL without a listener. */
const NOBODY = 'http://127.0.0.1:9';
const MINUTE_MS = 60_000;
const SECRET = 'fgk_of_a_data_folder';
const key = (id: string): ApiKey => ({ id, name: id, createdOn: '2026-11-22T00:00:00.000Z' });

describe.skipIf(postgresFolder === undefined)(`API keys in PostgreSQL${WITHOUT_POSTGRES}`, () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
  });
  afterAll(() => postgres?.remove());
  beforeEach(async () => {
    await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
  });

  const open = async (monotonicMs?: () => number): Promise<[SharedKeys, RulesStorage]> => {
    const storage = await openPostgresRules(
      { url: postgres.url() },
      { log: QUIET, ...(monotonicMs && { monotonicMs }) },
    );
    onTestFinished(() => storage.close());
    if (storage.shared === undefined) throw new Error('the store has no keys');
    return [new SharedKeys(storage.shared.keys, 5 * MINUTE_MS), storage];
  };

  it('stay valid for the grace time of an outage, then every lookup of an unrevoked key throws KeysUnavailableError', async () => {
    let aheadMs = 0;
    const [keys, storage] = await open(() => performance.now() + aheadMs);
    const [others] = await open();
    await keys.add('a', key('aaaa0001'));
    await keys.add('b', key('aaaa0002'));
    await others.revoke('aaaa0002', { revokedOn: 'now', revokedBy: 'tester' });
    await until('the revocation', () => keys.find('b')?.revokedOn);
    await postgres.stop();
    await until('the outage', () => storage.staleSeconds !== undefined);
    expect(keys.find('a')).toEqual(key('aaaa0001'));
    await expect(keys.add('c', key('aaaa0003'))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(keys.revoke('aaaa0001', { revokedOn: 'n', revokedBy: 't' })).rejects.toBeInstanceOf(
      StoreUnavailable,
    );
    aheadMs = 4 * MINUTE_MS;
    expect(keys.find('a')).toEqual(key('aaaa0001'));
    aheadMs = 6 * MINUTE_MS;
    expect(keys.find('b')?.revokedOn).toBe('now');
    for (const hash of ['a', 'nobody']) expect(() => keys.find(hash)).toThrow(KeysUnavailableError);
    expect(keys.isEmpty()).toBe(false);
    await postgres.restart();
    await until('a refresh of the keys', () => (storage.shared?.keys.ageMs ?? 0) < MINUTE_MS);
    expect(keys.find('a')).toEqual(key('aaaa0001'));
  });

  it('are invalid if the database has lost them', async () => {
    const [keys] = await open();
    await keys.add('a', key('aaaa0001'));
    await postgres.query(
      `DELETE FROM floodgate.gateway_keys; UPDATE floodgate.clock SET moment = 1, keys_changed_at = 0;
       SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'floodgate'`,
    );
    await until('the loss of the key', () => keys.find('a') === undefined);
    expect(keys.isEmpty()).toBe(false);
  });

  it('from a data folder are added once, and revoked if they are revoked there', async () => {
    const [keys] = await open();
    const stored = { secretHash: 'a', key: key('aaaa0001') };
    expect(await keys.importKeys([stored])).toBe(1);
    expect(await keys.importKeys([stored])).toBe(0);
    const revoked = { ...stored.key, revokedOn: 'now', revokedBy: 'tester' };
    expect(await keys.importKeys([{ ...stored, key: revoked }])).toBe(1);
    expect(await keys.importKeys([stored])).toBe(0);
    expect(keys.find('a')).toEqual(revoked);
  });

  describe('of two gateways', () => {
    let gateways: Floodgate[];
    beforeEach(async () => {
      const dataDir = temporaryFolder();
      const local = openGatewayStorage(dataDir, 1024 * 1024);
      await local.keys.add(hashOfSecret(SECRET), key('aaaa0001'));
      await local.close();
      const options = {
        config: { upstream: [NOBODY] },
        whenListening: true,
        args: ['--rules-store', postgres.url()],
      };
      // One after the other, because the first creates the tables.
      gateways = [await startFloodgate({ ...options, dataDir }), await startFloodgate(options)];
      onTestFinished(async () => {
        await Promise.all(gateways.map((gateway) => gateway.stop()));
      });
    });
    const statuses = (secret?: string): Promise<number[]> =>
      Promise.all(
        gateways.map(async ({ gatewayUrl }) => {
          const headers = {
            'content-type': 'application/json',
            ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
          };
          const body = '{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion"}';
          const response = await fetch(gatewayUrl, { method: 'POST', headers, body });
          await response.text();
          return response.status;
        }),
      );

    it('are shared: keys of a data folder stay valid, and commands change keys for both', async () => {
      await until('both gateways to require a key', async () =>
        (await statuses()).every((status) => status === 401),
      );
      expect(await statuses(SECRET)).not.toContain(401);
      const env = { FLOODGATE_RULES_STORE: postgres.url() };
      const made = await floodgate(['key', 'create', '--name', 'new'], { env });
      expect(made.status, made.stderr).toBe(0);
      const secret = made.stdout.split('\n')[0] ?? '';
      await until('both gateways to accept the new key', async () => !(await statuses(secret)).includes(401));
      const [created] = (await floodgate(['key', 'list', '--json'], { env })).stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ name }) => name === 'new');
      expect((await floodgate(['key', 'revoke', created.id], { env })).status).toBe(0);
      await until('both gateways to reject the revoked key', async () =>
        (await statuses(secret)).every((status) => status === 401),
      );
      expect(await statuses(SECRET)).not.toContain(401);
      expect(gateways[0]?.output()).toMatch(/API keys moved from the data folder to the database/);
    });
  });
});
