import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hashOfSecret, SharedKeys } from '../../src/ethereum/gateway/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { type Answer, type Call, send } from '../rules/support/call.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type RulesProcess, startServerWithWorkers } from '../rules/support/server.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { canListProcesses, processTree } from './support/processes.ts';

const TELL_PROCESS = fileURLToPath(new URL('../support/tellProcess.cjs', import.meta.url));
const ENV = { NODE_OPTIONS: `--require ${TELL_PROCESS}` };
/** Number of concurrent requests, each over a separate connection. */
const AT_ONCE = 8;
const ACCOUNTS = 4;
const CHANGES = 15;
/** Together with the keys of the other tests, the maximum number of keys. */
const MANY_KEYS = 9_900;
/** Maximum number of database connections of one server, regardless of its workers. */
const MAX_CONNECTIONS = 6;

type Asked = Pick<RulesProcess, 'url' | 'process'>;

const workersOf = ({ process }: Asked): number[] => processTree(process.pid ?? 0).slice(1);
const maker = ({ headers }: Answer): number => Number(headers['x-made-by']);

/** Sends a body to the gateway that is not a call: authentication happens before it is parsed. */
const ask = ({ url }: Asked, secret: string | null): Promise<Answer> =>
  send(
    { baseUrl: `${url}/v1` },
    {
      method: 'POST',
      path: '/mainnet',
      body: '{}',
      token: secret,
      headers: { 'content-type': 'application/json' },
    },
  );

/** Status for a rejected key, and for an accepted one (the body is invalid). */
const [REFUSED, ADMITTED] = [401, 400];

/** Sends requests until each worker has answered. Returns the distinct statuses. */
async function statusesOfAll(server: Asked, secret: string | null): Promise<number[]> {
  const statuses = new Set<number>();
  const makers = new Set<number>();
  await until('a response from each worker', async () => {
    // Requests fail if their worker is killed.
    const asked = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => ask(server, secret)));
    for (const one of asked) {
      if (one.status === 'rejected') continue;
      statuses.add(one.value.status);
      makers.add(maker(one.value));
    }
    const workers = workersOf(server);
    return workers.length === 2 && workers.every((pid) => makers.has(pid));
  });
  return [...statuses];
}

/** Kills each worker, and waits until it is replaced. */
async function killWorkers(server: Asked): Promise<void> {
  for (const worker of workersOf(server)) {
    process.kill(worker, 'SIGKILL');
    await until('the replacement of the worker', async () => {
      if (workersOf(server).includes(worker)) return false;
      const readyz = await fetch(`${server.url}/readyz`).catch(() => undefined);
      return (await readyz?.text())?.includes('"workers":"ok"');
    });
  }
}

describe.skipIf(!canListProcesses || postgresFolder === undefined)(
  `the workers of a server with rules and keys in PostgreSQL${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    let server: RulesProcess;
    const operate = (path: string, more: Omit<Call, 'path'> = {}): Promise<Answer> =>
      send(server, { path, ...more });
    const makeKey = async (name: string): Promise<{ id: string; value: string }> => {
      const made = await operate('/gateway/keys', { method: 'POST', body: { name } });
      expect(made.status, made.text).toBe(200);
      return made.json.result;
    };
    /** Returns the keys of another instance. */
    const elsewhere = async (): Promise<SharedKeys> => {
      const storage = await openPostgresRules({ url: postgres.url() }, { log: QUIET });
      onTestFinished(() => storage.close());
      if (storage.shared === undefined) throw new Error('the store has no keys');
      return new SharedKeys(storage.shared.keys);
    };
    /**
     * Sends requests without a key continuously. Returns a function that stops them and returns how many were
     * accepted.
     */
    const withoutKey = (): (() => Promise<number>) => {
      let [letIn, isFinished] = [0, false];
      const asking = Array.from({ length: 4 }, async () => {
        while (!isFinished) {
          const answer = await ask(server, null).catch(() => undefined);
          if (answer !== undefined && answer.status !== REFUSED) letIn++;
        }
      });
      return async () => {
        isFinished = true;
        await Promise.all(asking);
        return letIn;
      };
    };

    beforeAll(async () => {
      postgres = await Postgres.start();
      server = await startServerWithWorkers({ env: ENV, args: ['--rules-store', postgres.url()] });
    });
    afterAll(async () => {
      await server?.stop();
      await postgres?.remove();
    });

    it('accept all requests until there is a key; then all of them accept it immediately and soon require one', async () => {
      expect(await statusesOfAll(server, null)).toEqual([ADMITTED]);
      const { value } = await makeKey('first');
      expect(await statusesOfAll(server, value)).toEqual([ADMITTED]);
      await until(
        'every worker to require a key',
        async () => String(await statusesOfAll(server, null)) === String([REFUSED]),
      );
      expect(await statusesOfAll(server, 'fgk_of_nobody')).toEqual([REFUSED]);
    });

    it('accept a key as soon as its creation returns, and reject it as soon as its revocation returns', async () => {
      for (let i = 0; i < 5; i++) {
        const { id, value } = await makeKey('one');
        expect(await statusesOfAll(server, value)).toEqual([ADMITTED]);
        expect((await operate(`/gateway/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
        expect(await statusesOfAll(server, value)).toEqual([REFUSED]);
      }
    });

    it('apply keys that another instance creates and revokes', async () => {
      const others = await elsewhere();
      await others.add(hashOfSecret('fgk_other'), { id: 'other000', name: 'other', createdOn: 'now' });
      const all = async (status: number): Promise<boolean> =>
        String(await statusesOfAll(server, 'fgk_other')) === String([status]);
      await until('every worker to accept the key', () => all(ADMITTED));
      await others.revoke('other000', { revokedOn: 'now', revokedBy: 'tester' });
      await until('every worker to reject the key', () => all(REFUSED));
    });

    it('never accept requests without a key after they were killed, and reject a key that was revoked during a restart', async () => {
      const over = withoutKey();
      const kept = await makeKey('kept');
      const revoked = await makeKey('revoked');
      const killing = killWorkers(server);
      await until('the revocation', async () => {
        // The worker that forwards the request to the first process may be killed.
        const answer = await operate(`/gateway/keys/${revoked.id}`, { method: 'DELETE' }).catch(
          () => undefined,
        );
        return answer?.status === 200;
      });
      const asked = statusesOfAll(server, revoked.value);
      await killing;
      expect(await asked).toEqual([REFUSED]);
      expect(await statusesOfAll(server, revoked.value)).toEqual([REFUSED]);
      expect(await statusesOfAll(server, kept.value)).toEqual([ADMITTED]);
      expect(await over()).toBe(0);
    });

    it('have all keys before they listen after a reload', async () => {
      const { value } = await makeKey('reloaded');
      const before = workersOf(server);
      const over = withoutKey();
      server.process.kill('SIGHUP');
      await until('the log message of the reload', () => server.output().includes('configuration reloaded'));
      for (const worker of before) expect(workersOf(server)).not.toContain(worker);
      expect(await statusesOfAll(server, value)).toEqual([ADMITTED]);
      expect(await over()).toBe(0);
    });

    it('have all keys of the first process if they start during an outage of the database', async () => {
      const { value } = await makeKey('away');
      const over = withoutKey();
      await postgres.stop();
      await killWorkers(server);
      expect(await statusesOfAll(server, value)).toEqual([ADMITTED]);
      expect((await operate('/gateway/keys', { method: 'POST', body: { name: 'b' } })).status).toBe(503);
      await postgres.restart();
      await until(
        'the end of the outage',
        async () => (await operate('/gateway/keys', { method: 'POST', body: { name: 'b' } })).status === 200,
      );
      expect(await over()).toBe(0);
    });

    it('return a change of a rule at the next request to any of them, and have no database connections', async () => {
      const first = server.process.pid ?? 0;
      const change = async (account: string): Promise<void> => {
        const list = rulesPath(account);
        const one = `${list}/${(await operate(list, { method: 'POST', body: newRule })).json.result.id}`;
        for (let i = 0; i < CHANGES; i++) {
          const body = { rate_sensitivity: ['medium', 'high'][i % 2] };
          const { modified_on } = (await operate(one, { method: 'PATCH', body })).json.result;
          const answers = await Promise.all([operate(one), operate(list), operate(one), operate(list)]);
          const shown = answers.map(({ json }) => [json.result].flat()[0].modified_on);
          expect(shown).toEqual(Array(4).fill(modified_on));
          expect(answers.map(maker)).toEqual(Array(4).fill(first));
        }
        expect((await operate(one, { method: 'DELETE' })).status).toBe(200);
        const gone = await Promise.all([operate(one), operate(one), operate(list)]);
        expect(gone.map(({ status }) => status)).toEqual([404, 404, 200]);
        expect(gone[2]?.json.result).toEqual([]);
      };
      await Promise.all(Array.from({ length: ACCOUNTS }, (_, i) => change(`account-${i}`)));
      // Connections of the other instances close slightly later.
      await until(`at most ${MAX_CONNECTIONS} database connections`, async () => {
        const [counted] = await postgres.query(
          `SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name = 'floodgate'`,
        );
        return Number(counted?.['connections']) <= MAX_CONNECTIONS;
      });
    });

    it('use the keys of the database on a server without the rules role, too', async () => {
      const { id, value } = await makeKey('of all');
      const gateway = await startFloodgateProcess({
        upstream: 'http://127.0.0.1:9',
        args: ['--role', 'gateway,ingest', '--workers', '2', '--rules-store', postgres.url()],
        env: ENV,
        whenListening: true,
      });
      onTestFinished(async () => void (await gateway.stop()));
      expect(await statusesOfAll(gateway, null)).toEqual([REFUSED]);
      expect(await statusesOfAll(gateway, value)).toEqual([ADMITTED]);
      const rules = await send({ baseUrl: `${gateway.url}/client/v4` }, { path: rulesPath('a') });
      expect(rules.status).toBe(404);
      expect((await operate(`/gateway/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
      await until(
        'every worker of the other server to reject the key',
        async () => String(await statusesOfAll(gateway, value)) === String([REFUSED]),
      );
    });

    it('have the maximum number of keys, even after a restart, and apply further changes', async () => {
      const secret = (i: number) => `fgk_many_${i}`;
      await postgres.query(
        `BEGIN;
         UPDATE floodgate.clock SET moment = moment + 1, keys_changed_at = moment + 1;
         INSERT INTO floodgate.gateway_keys (hash, changed_at, key)
           SELECT encode(sha256(convert_to('fgk_many_' || i, 'UTF8')), 'hex'), moment,
             json_build_object('id', 'many-' || i, 'name', 'many', 'createdOn', 'now')
           FROM floodgate.clock, generate_series(1, ${MANY_KEYS}) AS i;
         COMMIT; NOTIFY floodgate_changes`,
      );
      const over = withoutKey();
      const isKnown = async (): Promise<boolean> =>
        String(await statusesOfAll(server, secret(MANY_KEYS))) === String([ADMITTED]);
      await until('the last key to be accepted', isKnown);
      await killWorkers(server);
      for (const i of [1, MANY_KEYS]) expect(await statusesOfAll(server, secret(i))).toEqual([ADMITTED]);
      const { id, value } = await makeKey('one more');
      expect(await statusesOfAll(server, value)).toEqual([ADMITTED]);
      expect((await operate(`/gateway/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
      expect(await statusesOfAll(server, value)).toEqual([REFUSED]);
      expect(await over()).toBe(0);
    });

    it('reject all requests if the database has lost its keys, even after a restart', async () => {
      const { value } = await makeKey('lost');
      const over = withoutKey();
      await postgres.query(
        `DELETE FROM floodgate.gateway_keys; UPDATE floodgate.clock SET keys_changed_at = 0;
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'floodgate'`,
      );
      await until(
        'the lost key to be rejected',
        async () => String(await statusesOfAll(server, value)) === String([REFUSED]),
      );
      await killWorkers(server);
      expect(await statusesOfAll(server, null)).toEqual([REFUSED]);
      expect(await statusesOfAll(server, value)).toEqual([REFUSED]);
      expect(await over()).toBe(0);
    });
  },
);
