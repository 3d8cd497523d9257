import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_COUNT } from '../../src/ethereum/traces/index.ts';
import { call } from '../gateway/support/send.ts';
import { send } from '../rules/support/call.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { plainAnswer } from '../support/plainFilter.ts';
import { postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { callTraceFilter, callTraceFilterAll, withoutId } from '../traces/support/callTraceFilter.ts';
import { type NodeChain, readChain } from '../traces/support/nodeChain.ts';
import { ACCOUNT, Cluster, GATEWAYS, GUARDS, INGESTS, type ServerName } from './support/cluster.ts';
import { MixedLoad } from './support/mixedLoad.ts';

const QUERIES = 10;
const path = rulesPath(ACCOUNT);
const [GATEWAY, OTHER] = GATEWAYS;
let addresses = 2 ** 40;
const newAddress = (): string => `0x${(addresses++).toString(16).padStart(40, '0')}`;

describe.skipIf(!hasClickHouse || postgresFolder === undefined)(
  `two gateways, two ingest servers and three guards that share PostgreSQL and ClickHouse${WITHOUT_CLICKHOUSE}${WITHOUT_POSTGRES}`,
  () => {
    const machines = new Cluster();
    let load: MixedLoad;
    let ruleId: string;
    let mode = 'enabled';

    const api = (name: ServerName) => ({ baseUrl: `${machines.server(name).url}/client/v4` });
    const readyz = async (name: ServerName) => {
      const answer = await fetch(`${machines.server(name).url}/readyz`);
      const { roles } = (await answer.json()) as { roles: string[] };
      return { status: answer.status, roles };
    };
    const isAnswered = async (...names: readonly ServerName[]): Promise<void> => {
      const before = names.map((name) => load.answersOf(name));
      await until(`answers from ${names}`, () =>
        names.every((name, i) => load.answersOf(name) > (before[i] ?? 0)),
      );
    };
    const sharedHead = () => machines.clickHouse.query('SELECT max(number) FROM trace_blocks');
    const haveHeadOf = async (chain: NodeChain): Promise<void> => {
      for (const name of GATEWAYS) {
        const { gatewayUrl } = machines.server(name);
        await until(`the head of the node in ${name}`, async () => {
          const { result } = await callTraceFilter(gatewayUrl, { count: 1 });
          return result?.[0]?.blockHash === chain.hashes[chain.head];
        });
      }
    };
    const headTraces = () =>
      load.chain.traces.filter(({ blockNumber }) => blockNumber === load.chain.head).slice(0, MAX_COUNT);
    const newest = (name: ServerName, blockNumber = load.chain.head) =>
      callTraceFilter(machines.server(name).gatewayUrl, { fromBlock: blockNumber, toBlock: blockNumber });

    /** Requests a balance at the head for a new address, which is not cached. */
    const relays = async (...names: readonly ServerName[]): Promise<void> => {
      for (const name of names) {
        const { json } = await call(
          machines.server(name).gatewayUrl,
          'eth_getBalance',
          newAddress(),
          'latest',
        );
        expect(json.result).toBe('0x0');
      }
    };

    beforeAll(async () => {
      await machines.start();
      load = new MixedLoad(machines, await readChain(machines.anvil.url));
      const made = await send(api(GATEWAY), { method: 'POST', path, body: newRule });
      ruleId = made.json.result.id;
    });
    afterAll(async () => {
      await load?.stop();
      await machines.stop();
    });

    /**
     * Expects that each gateway returns exact traces of new blocks, each guard enforces a change, and no change was
     * lost.
     */
    async function expectAllWell(): Promise<void> {
      await machines.traffic.run({ steps: 2 });
      const chain = await readChain(machines.anvil.url);
      await haveHeadOf(chain);
      load.chain = chain;
      const queries = Array.from({ length: QUERIES }, () => load.query());
      for (const name of GATEWAYS) {
        const answers = await callTraceFilterAll(
          machines.server(name).gatewayUrl,
          queries.map(({ asked }) => asked),
        );
        for (const [i, { meant }] of queries.entries()) {
          const answer = answers[i];
          expect(answer && withoutId(answer), JSON.stringify(meant)).toEqual(
            plainAnswer(chain.traces, meant),
          );
        }
      }
      mode = mode === 'enabled' ? 'monitoring' : 'enabled';
      const changed = { method: 'PATCH', path: `${path}/${ruleId}`, body: { mode } };
      await until(
        'an accepted change of the rule',
        async () => (await send(api(GATEWAY), changed)).status === 200,
      );
      await until('all guards to enforce the change', async () => {
        const { json } = await send(api(OTHER), { path: path.replace(/rules$/, 'fleet') });
        const reported: { datacenter: string; is_up: boolean; rule?: { id: string; mode: string } }[] =
          json.result ?? [];
        return GUARDS.every((guard) =>
          reported.some(
            ({ datacenter, is_up, rule }) =>
              datacenter === guard && is_up && rule?.id === ruleId && rule.mode === mode,
          ),
        );
      });
      await isAnswered(...GATEWAYS, ...GUARDS);
      await expectNothingLost();
    }

    async function expectNothingLost(): Promise<void> {
      const acknowledged = [...load.acknowledged];
      expect(acknowledged.length).toBeGreaterThan(0);
      for (const account of new Set(acknowledged.map((one) => one.account))) {
        const kept = await until('rules that are not stale', async () => {
          const answer = await send(api(OTHER), { path: rulesPath(account) });
          return answer.status === 200 && !('floodgate-stale' in answer.headers) && answer;
        });
        const rules = new Map<string, unknown>(
          (kept.json.result as { id: string }[]).map((rule) => [rule.id, rule]),
        );
        for (const one of acknowledged.filter((made) => made.account === account))
          expect(rules.get(one.rule.id)).toEqual(one.rule);
      }
      expect(load.wrong).toEqual([]);
    }

    it('open only the parts that their roles need, and report their roles', async () => {
      await expectAllWell();
      const statusOf = async (name: ServerName, at: string): Promise<number> =>
        (await fetch(machines.server(name).url + at, { method: at.startsWith('/v1') ? 'POST' : 'GET' }))
          .status;
      const [rulesUrl, gatewayUrl] = [`/client/v4${path}`, '/v1/mainnet'];
      // Requests without a token and a body: existing paths reject them, missing ones return 404.
      const seen = await Promise.all(
        ([GATEWAY, 'ingest-1', 'AMS'] as const).map(async (name) => [
          (await readyz(name)).roles,
          await statusOf(name, rulesUrl),
          await statusOf(name, gatewayUrl),
          machines.server(name).dnsPort > 0,
          await statusOf(name, '/metrics'),
          ...['rules', 'gateway', 'traces', 'dns'].filter((folder) =>
            existsSync(join(machines.server(name).dataDir, folder)),
          ),
        ]),
      );
      expect(seen).toEqual([
        [['gateway', 'rules'], 401, 415, false, 200, 'gateway', 'traces'],
        [['ingest'], 404, 404, false, 200, 'traces'],
        [['guard'], 404, 404, true, 200, 'dns'],
      ]);
      const metrics = await (await fetch(`${machines.server('ingest-1').url}/metrics`)).text();
      expect(metrics).toContain('floodgate_role{role="ingest"} 1');
      expect(metrics).toContain('floodgate_role{role="gateway"} 0');
      expect(machines.server('ingest-1').output()).toMatch(/"roles":\["ingest"\].*"msg":"listening"/);
    });

    it.each(GATEWAYS)(
      'keep answering and accept rules at the other gateway if %s is killed',
      async (name) => {
        const other = GATEWAYS.find((one) => one !== name) ?? OTHER;
        await machines.killServer(name);
        await isAnswered(other, ...GUARDS);
        await machines.startServer(name);
        await expectAllWell();
      },
    );

    it('keep answering DNS if both gateways, which serve the rules API, are killed', async () => {
      for (const name of GATEWAYS) await machines.killServer(name);
      await isAnswered(...GUARDS);
      for (const guard of GUARDS) expect((await readyz(guard)).status).toBe(200);
      for (const name of GATEWAYS) await machines.startServer(name);
      await expectAllWell();
    });

    it.each(INGESTS)(
      'keep filling the shared index with the other ingest server if %s is killed',
      async (name) => {
        await machines.killServer(name);
        const before = Number(await sharedHead());
        await machines.traffic.run({ steps: 2 });
        await until('a block of the other ingest server', async () => Number(await sharedHead()) > before);
        await machines.startServer(name);
        await expectAllWell();
      },
    );

    it('keep indexing new blocks at the gateways if both ingest servers are killed', async () => {
      for (const name of INGESTS) await machines.killServer(name);
      const headBefore = await sharedHead();
      await expectAllWell();
      for (const name of GATEWAYS) expect((await readyz(name)).status).toBe(200);
      // No other server has written to the index.
      expect(await sharedHead()).toEqual(headBefore);
      for (const name of INGESTS) await machines.startServer(name);
      await expectAllWell();
    });

    it.each(['nobody', 'ingest-1', GATEWAY] as const)(
      'answer from the old or the new chain, never from both, if a reorganisation happens while %s is down',
      async (away) => {
        await load.whileReplaced(async () => {
          if (away !== 'nobody') await machines.killServer(away);
          await machines.replaceBlocks();
          await isAnswered(OTHER);
          if (away !== 'nobody') await machines.startServer(away);
          const chain = await readChain(machines.anvil.url);
          await haveHeadOf(chain);
          return chain;
        });
        await expectAllWell();
      },
    );

    it.each(['AMS'] as const)('keep answering DNS at the other guards if %s is killed', async (name) => {
      await machines.killServer(name);
      await isAnswered(...GATEWAYS, ...GUARDS.filter((guard) => guard !== name));
      await machines.startServer(name);
      await expectAllWell();
    });

    it('keep serving traces, cached rules and DNS, and reject changes, if PostgreSQL is killed; guards restart meanwhile', async () => {
      await send(api(GATEWAY), { path });
      await machines.postgres.kill();
      const stale = await until('a read that is marked as stale', async () => {
        const answer = await send(api(GATEWAY), { path });
        return 'floodgate-stale' in answer.headers && answer;
      });
      expect(stale.json.result[0]).toMatchObject({ id: ruleId, mode });
      expect((await send(api(GATEWAY), { method: 'POST', path, body: newRule })).status).toBe(503);
      for (const name of GATEWAYS) {
        expect(await newest(name)).toMatchObject({ result: headTraces() });
        expect((await newest(name, 1)).error).toBeUndefined();
        expect((await readyz(name)).status).toBe(200);
      }
      await relays(...GATEWAYS);
      await isAnswered(...GUARDS);
      // Guards start from their snapshots, and enforce the last rule. The old age shows that no server has reconnected.
      for (const guard of GUARDS) {
        await machines.killServer(guard);
        await machines.startServer(guard);
        expect(machines.server(guard).output()).toContain('started from a snapshot');
      }
      await isAnswered(...GATEWAYS, ...GUARDS);
      const staleSeconds = async (name: ServerName): Promise<number> => {
        const metrics = await (await fetch(`${machines.server(name).url}/metrics`)).text();
        return Number(/^floodgate_rules_stale_seconds (\d+)/m.exec(metrics)?.[1]);
      };
      for (const name of [...GATEWAYS, ...GUARDS])
        await until('rules that are 10 s old', async () => (await staleSeconds(name)) >= 10);
      await machines.postgres.restart();
      await expectAllWell();
    });

    it('keep serving the newest blocks, rules and DNS if ClickHouse is killed', async () => {
      await machines.clickHouse.kill();
      for (const name of GATEWAYS) {
        expect(await newest(name)).toMatchObject({ result: headTraces() });
        expect((await newest(name, 1)).error?.data).toEqual({ reason: 'noIndex' });
      }
      await machines.traffic.step();
      const chain = await readChain(machines.anvil.url);
      await haveHeadOf(chain);
      load.chain = chain;
      await relays(...GATEWAYS);
      await isAnswered(...GATEWAYS, ...GUARDS);
      await machines.clickHouse.restart();
      await expectAllWell();
    });

    it.each(['ingest-1', GATEWAY, 'AMS'] as const)(
      'recover if %s starts again with an empty data folder',
      async (name) => {
        await machines.loseServer(name);
        await machines.startServer(name);
        await expectAllWell();
      },
    );
  },
);
