import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Call, send } from '../rules/support/call.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type RulesProcess, startServerWithWorkers } from '../rules/support/server.ts';
import { until } from '../support/until.ts';
import { canListProcesses, processTree } from './support/processes.ts';

const WORKERS = 2;
const TELL_PROCESS = fileURLToPath(new URL('../support/tellProcess.cjs', import.meta.url));
/** Number of accounts. Each is changed, and read after each change. */
const ACCOUNTS = 8;
const CHANGES = 60;
const SENSITIVITIES = ['low', 'medium', 'high'] as const;

describe.skipIf(!canListProcesses)('the rules API of a server with workers, on one port', () => {
  let server: RulesProcess;
  let first: number;
  const workers = (): number[] => processTree(first).slice(1);
  /** Sends a request over a new connection, so that any worker may receive it. */
  const ask = (path: string, more: Omit<Call, 'path'> = {}): Promise<Answer> =>
    send(server, { path, ...more });
  const maker = ({ headers }: Answer): number => Number(headers['x-made-by']);
  const create = async (account: string): Promise<string> =>
    (await ask(rulesPath(account), { method: 'POST', body: newRule })).json.result.id;

  beforeAll(async () => {
    server = await startServerWithWorkers(
      {
        env: { NODE_OPTIONS: `--require ${TELL_PROCESS}` },
        args: ['--http-trusted-proxies', '127.0.0.1'],
      },
      WORKERS,
    );
    first = server.process.pid ?? 0;
  });
  afterAll(() => server?.stop());

  it('forwards reads and changes to the first process, so that clients read their own changes', async () => {
    const stale: string[] = [];
    const readers = new Set<number>();
    let reads = 0;
    const change = async (account: string): Promise<void> => {
      const list = rulesPath(account);
      const one = `${list}/${await create(account)}`;
      for (let i = 0; i < CHANGES; i++) {
        const body = { rate_sensitivity: SENSITIVITIES[(i + 1) % SENSITIVITIES.length] };
        const before = await ask(list);
        const changed = await ask(one, { method: 'PATCH', body });
        expect([changed.status, maker(changed)]).toEqual([200, first]);
        const { etag } = changed.headers;
        const known = { headers: { 'if-none-match': before.headers['etag'] as string } };
        const [rule, again, rules, rulesKnown, audit, kept] = await Promise.all([
          ask(one),
          ask(one),
          ask(list),
          ask(list, known),
          ask(list.replace(/rules$/, 'audit')),
          ask(one, { headers: { 'if-none-match': etag as string } }),
        ]);
        const answers = [rule, again, rules, rulesKnown, audit, kept];
        const { modified_on } = changed.json.result;
        const shown = [
          ...[rule, again].map(({ json }) => json.result.modified_on),
          ...[rules, rulesKnown].map(({ json }) => json?.result[0].modified_on),
          audit.json.result[0].at,
          kept.status === 304 ? modified_on : kept.status,
        ];
        for (const at of shown) if (at !== modified_on) stale.push(`${at} after ${modified_on}`);
        for (const answer of answers) readers.add(maker(answer));
        reads += answers.length;
      }
      expect((await ask(one, { method: 'DELETE' })).status).toBe(200);
      const gone = await Promise.all([ask(one), ask(one), ask(one), ask(list)]);
      expect(gone.map(({ status }) => status)).toEqual([404, 404, 404, 200]);
      expect(gone[3]?.json.result).toEqual([]);
    };
    await Promise.all(Array.from({ length: ACCOUNTS }, (_, i) => change(`account-${i}`)));
    expect(stale).toEqual([]);
    expect(reads).toBe(6 * ACCOUNTS * CHANGES);
    expect([...readers]).toEqual([first]);
  });

  it('forwards requests whose target is no path', async () => {
    const { hostname, port, origin } = new URL(server.baseUrl);
    const statusOf = async (method: string, path: string): Promise<number | undefined> => {
      const asked = request({ hostname, port, method, path, agent: false }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    expect(await statusOf('OPTIONS', '*')).toBe(404);
    expect(await statusOf('GET', `${origin}/healthz`)).toBe(200);
  });

  it('rejects a revoked token immediately at every worker, and counts its requests', async () => {
    for (let i = 0; i < 20; i++) {
      const body = {
        label: 'one',
        accounts: ['t'],
        permissions: ['dns_protection:read'],
        all_accounts: false,
      };
      const made = (await ask('/user/tokens', { method: 'POST', body })).json.result;
      const all = (): Promise<Answer[]> =>
        Promise.all(Array.from({ length: 6 }, () => ask(rulesPath('t'), { token: made.value })));
      expect((await all()).map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect((await ask(rulesPath('other'), { token: made.value })).status).toBe(403);
      expect((await ask(`/user/tokens/${made.id}`, { method: 'DELETE' })).status).toBe(200);
      const refused = await all();
      expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(401));
      if (i > 0) continue;
      const reported = await until('13 requests in the token', async () => {
        const { result } = (await ask(`/user/tokens/${made.id}`)).json;
        return result.requests.count === 13 && result;
      });
      expect(reported).toMatchObject({
        requests: { count: 13, rejected: 7 },
        last_used_on: expect.any(String),
      });
    }
  });

  it('records the client address from the trusted proxy in the audit log, and ignores a forged header', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.7', 'floodgate-client': '203.0.113.1' };
    await ask(rulesPath('f'), { method: 'POST', body: newRule, headers });
    const { json } = await ask(rulesPath('f').replace(/rules$/, 'audit'));
    expect(json.result.map(({ from }: { from: string }) => from)).toEqual(['192.0.2.7']);
  });

  it('answers chunked, rejected and too large bodies like a server without workers', async () => {
    const chunked = { 'transfer-encoding': 'chunked' };
    const path = rulesPath('b');
    const { json } = await ask(path, { method: 'POST', body: newRule, headers: chunked });
    expect(json.result).toMatchObject(newRule);
    // An unread body must not be parsed as another request.
    const deleted = await ask(`${path}/${json.result.id}`, {
      method: 'DELETE',
      body: 'GET / HTTP/1.1\r\nhost: a\r\n\r\n',
      headers: chunked,
    });
    expect(deleted.status).toBe(200);
    const long = 'x'.repeat(2_000_000);
    const refused = await ask(path, { method: 'POST', body: long, token: null });
    expect(refused.status).toBe(401);
    const tooLong = await ask(path, { method: 'POST', body: long });
    expect(tooLong.status).toBe(413);
    expect((await ask(path)).json.result).toEqual([]);
    expect((await ask(path, { method: 'PUT' })).headers['allow']).toBe('GET, HEAD, POST, DELETE');
  });

  it('serves readiness and metrics of the whole server, and counts each request once', async () => {
    const at = async (path: string) => (await fetch(`${server.url}${path}`)).text();
    expect(JSON.parse(await at('/readyz')).checks.workers).toBe('ok');
    expect(JSON.parse(await at('/nothing')).served).toEqual(
      expect.arrayContaining(['/v1/mainnet', '/client/v4', '/metrics']),
    );
    const counted = async (name: string): Promise<number> => {
      let sum = 0;
      for (const [, count] of (await at('/metrics')).matchAll(new RegExp(`^${name}.* (\\d+)$`, 'gm')))
        sum += Number(count);
      return sum;
    };
    expect(await counted('floodgate_workers_ready')).toBe(WORKERS);
    const counters = [
      'floodgate_rules_requests_total.*updateRule"',
      'floodgate_rules_requests_total.*"none"',
      'floodgate_rules_requests_total.*getRule"',
      'floodgate_http_responses_total.*405"',
    ];
    const before = await Promise.all(counters.map(counted));
    const one = `${rulesPath('m')}/${await create('m')}`;
    await ask(one, { method: 'PATCH', body: { mode: 'disabled' } });
    await ask(one, { method: 'PUT' });
    for (let i = 0; i < 10; i++) await ask(one);
    // Metrics of a slow worker are those of its last report.
    await expect
      .poll(async () =>
        (await Promise.all(counters.map(counted))).map((count, i) => count - (before[i] ?? 0)),
      )
      .toEqual([1, 1, 10, 1]);
    const call = await fetch(server.gatewayUrl, { method: 'POST', body: '{}' });
    expect(workers()).toContain(Number(call.headers.get('x-made-by')));
  });

  it('loses no acknowledged change if workers are killed', async () => {
    const path = rulesPath('k');
    const acknowledged = new Set<string>();
    const lost: string[] = [];
    let isFinished = false;
    const change = async (): Promise<void> => {
      while (!isFinished)
        try {
          const { json } = await ask(path, { method: 'POST', body: newRule });
          acknowledged.add(json.result.id);
          const { status } = await ask(`${path}/${json.result.id}`);
          if (status !== 200) lost.push(`${json.result.id}: ${status}`);
        } catch {
          // The worker of this connection was killed.
        }
    };
    const changing = Array.from({ length: 4 }, change);
    for (let killed = 0; killed < 3; killed++) {
      const wanted = acknowledged.size + 10;
      await until('further changes', () => acknowledged.size >= wanted);
      const [worker = 0] = workers();
      process.kill(worker, 'SIGKILL');
      await until('the replacement of the worker', async () => {
        if (workers().includes(worker)) return false;
        const readyz = await fetch(`${server.url}/readyz`).catch(() => undefined);
        return (await readyz?.text())?.includes('"workers":"ok"');
      });
    }
    isFinished = true;
    await Promise.all(changing);
    expect(lost).toEqual([]);
    const { result_info } = (await ask(`${path}?per_page=5`)).json;
    expect(result_info.total_count).toBeGreaterThanOrEqual(acknowledged.size);
    for (const id of acknowledged) expect((await ask(`${path}/${id}`)).status).toBe(200);
  });

  it('ends live streams when the server stops, without a delay', async () => {
    const own = await startServerWithWorkers();
    const listening = await fetch(`${own.baseUrl}${rulesPath('l').replace(/rules$/, 'live')}`, {
      headers: { authorization: `Bearer ${own.token}` },
    });
    expect(listening.headers.get('content-type')).toBe('text/event-stream');
    const reader = listening.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const stopped = own.stop();
    // The stream must end without an error.
    while ((await reader?.read())?.done === false);
    expect(await stopped).toBe(0);
  });
});
