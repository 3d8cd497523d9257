import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleRule } from '../../src/rules/index.ts';
import { HANG_MS } from '../support/hang.ts';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { callTraceFilter } from '../traces/support/callTraceFilter.ts';
import { canListProcesses, processTree, running } from './support/processes.ts';
import { floodgate, run } from './support/run.ts';
import { type Dev, startDev } from './support/startDev.ts';

const NO_PROC = 'this system has no /proc';
/** `floodgate dev` without compiling first, which takes most of the time of a start. */
const COMPILED = [process.execPath, PROGRAM, 'dev'] as const;
const clockSecond = (): number => Math.floor(Date.now() / 1_000);
const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe('npm start', () => {
  let dataDir: string;
  const families: number[] = [];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'floodgate-first-'));
  });
  afterEach(() => {
    for (const pid of running(families.splice(0))) process.kill(pid, 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(
    command?: Parameters<typeof startDev>[1],
  ): Promise<Dev & { readonly family: number[] }> {
    const dev = await startDev(dataDir, command);
    const family = canListProcesses ? processTree(dev.pid) : [dev.pid];
    families.push(...family);
    return { ...dev, family };
  }

  /** Waits until block 1 is indexed. Returns its hash, which identifies a development chain. */
  const firstBlock = (dev: Dev): Promise<string> =>
    until('the first indexed block', async () => {
      const { result } = await callTraceFilter(dev.gatewayUrl, { fromBlock: 1, toBlock: 1, count: 1 });
      return result?.[0]?.blockHash;
    });

  const curls = (dev: Dev): string[] =>
    dev.startMessage.split('\n').filter((line) => line.startsWith('curl '));
  const rulesOf = async (dev: Dev): Promise<unknown[]> => {
    const list = curls(dev).find((line) => line.includes('Bearer') && !line.includes('--data')) ?? '';
    const url = /'(http[^']+)'/.exec(list)?.[1] ?? '';
    const token = /Bearer ([^']+)/.exec(list)?.[1] ?? '';
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return ((await response.json()) as { result: unknown[] }).result;
  };

  it('prints its URLs, an account, a token, and three curl commands that work', async (ctx) => {
    if (!hasCurl) ctx.skip('curl is not installed');
    const dev = await start();
    expect(dev.startMessage).toMatch(/Rules API +http:\/\/127\.0\.0\.1:\d+\/client\/v4\n/);
    expect(dev.startMessage).toMatch(/Gateway +http:\/\/127\.0\.0\.1:\d+\/v1\/mainnet\n/);
    expect(dev.startMessage).toMatch(/Account +[A-Za-z0-9_-]+\n/);
    expect(dev.startMessage).toMatch(/API token +fg_[A-Za-z0-9_-]{40}\n/);
    await firstBlock(dev);
    const answers = [];
    for (const line of curls(dev)) {
      const { code, stdout } = await run('sh', ['-c', line]);
      expect(code).toBe(0);
      answers.push(JSON.parse(stdout));
    }
    const [created, listed, traces] = answers;
    expect(answers).toHaveLength(3);
    expect(created).toMatchObject({ success: true, result: { scope: 'global' } });
    expect(listed.result).toEqual([created.result]);
    expect(traces.result.length).toBeGreaterThan(0);
    for (const trace of traces.result) expect(trace).toMatchObject({ type: 'call', result: {} });
    // The example response must stay short enough to read.
    expect(JSON.stringify(traces).length).toBeLessThan(1500);
  });

  it('prints its URLs before the log if both go to the same pipe', async () => {
    const flags = '--role rules,guard --dns-listen 127.0.0.1:0';
    const dev = await start([
      'sh',
      '-c',
      `exec '${process.execPath}' '${PROGRAM}' dev ${flags} "$@" 2>&1`,
      'sh',
    ]);
    expect(dev.startMessage).toMatch(/^Floodgate is running\.\n/);
    dev.process.kill('SIGTERM');
    expect(await dev.ended).toBe(0);
  });

  it('stops with all child processes on Ctrl-C, and keeps rules and chain for the next start', async (ctx) => {
    if (!canListProcesses) ctx.skip(NO_PROC);
    const first = await start();
    const hash = await firstBlock(first);
    const [create = ''] = curls(first);
    const body = /--data '([^']+)'/.exec(create)?.[1] ?? '';
    const url = /'(http[^']+)'/.exec(create)?.[1] ?? '';
    const authorization = /Authorization: ([^']+)/.exec(create)?.[1] ?? '';
    await fetch(url, { method: 'POST', headers: { authorization }, body });
    const rules = await rulesOf(first);
    expect(rules).toHaveLength(1);
    // At least the server and the node.
    expect(first.family.length).toBeGreaterThanOrEqual(2);

    // Ctrl-C in a terminal signals the whole foreground process group.
    process.kill(-first.pid, 'SIGINT');
    expect(await first.ended).toBe(0);
    await until('the end of all processes', () => running(first.family).length === 0);
    await until('the log message "stopped"', () => first.log().includes('"msg":"stopped"'));

    const second = await start(COMPILED);
    expect(await firstBlock(second)).toBe(hash);
    expect(await rulesOf(second)).toEqual(rules);
    // A second create would override this rule.
    expect(second.startMessage).not.toContain('"scope"');
    expect(second.startMessage).toMatch(/\nList the rules:\n.*\n\nQuery traces:\n/);
    const head = async (): Promise<number> =>
      (await callTraceFilter(second.gatewayUrl, { count: 1 })).result?.[0]?.blockNumber ?? 0;
    const now = await head();
    await until('a new block', async () => (await head()) > now);
  });

  it('prints the command that creates a rule only while the account has no rule', async () => {
    const command = [...COMPILED, '--role', 'rules,guard'] as const;
    const welcomes: string[] = [];
    const changes = [
      // Any rule counts, because a new rule overrides a disabled one, too.
      { method: 'POST', body: JSON.stringify({ ...exampleRule, mode: 'disabled' }) },
      { method: 'DELETE' },
      undefined,
    ];
    for (const change of changes) {
      const dev = await start(command);
      welcomes.push(dev.startMessage);
      const line = curls(dev)[0] ?? '';
      const url = /'(http[^']+)'/.exec(line)?.[1] ?? '';
      const authorization = /Authorization: ([^']+)/.exec(line)?.[1] ?? '';
      const changed = change && (await fetch(url, { ...change, headers: { authorization } }));
      expect(changed?.ok ?? true).toBe(true);
      process.kill(dev.pid, 'SIGTERM');
      await dev.ended;
    }
    expect(welcomes.map((welcome) => /create a rule/i.test(welcome))).toEqual([true, false, true]);
    expect(welcomes.map((welcome) => welcome.includes('"scope"'))).toEqual([true, false, true]);
  });

  it('stops if npm receives SIGTERM', async (ctx) => {
    if (!canListProcesses) ctx.skip(NO_PROC);
    const npm = await start(['npm', 'start', '--silent', '--']);
    process.kill(npm.pid, 'SIGTERM');
    await npm.ended;
    await until('the end of all processes', () => running(npm.family).length === 0);
    await until('the log message "stopped"', () => npm.log().includes('"msg":"stopped"'));
  });

  it('works again after kill -9 of all its processes', async (ctx) => {
    if (!canListProcesses) ctx.skip(NO_PROC);
    const first = await start(COMPILED);
    const hash = await firstBlock(first);
    // Wait until the index has blocks that are not in the saved state of the chain.
    const saved = (await callTraceFilter(first.gatewayUrl, { count: 1 })).result?.[0]?.blockNumber ?? 0;
    await until('an indexed block after the saved state of the chain', async () => {
      const { result } = await callTraceFilter(first.gatewayUrl, { count: 1 });
      return (result?.[0]?.blockNumber ?? 0) > saved;
    });
    for (const pid of first.family) process.kill(pid, 'SIGKILL');
    await until('the end of all processes', () => running(first.family).length === 0);

    const second = await start(COMPILED);
    expect(await firstBlock(second)).toBe(hash);
    await until('indexed blocks of the new chain after the end of the old one', async () => {
      const { result } = await callTraceFilter(second.gatewayUrl, {
        fromBlock: saved + 2,
        toBlock: saved + 2,
      });
      return result !== undefined && result.length > 0;
    });
    expect(second.log()).not.toContain('indexing waits');
  });

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['unreadable', (file: string) => writeFileSync(file, '{"torn')],
  ])('builds a new index and logs that if the saved chain is %s', async (_what, spoil) => {
    const first = await start(COMPILED);
    const hash = await firstBlock(first);
    process.kill(first.pid, 'SIGTERM');
    await first.ended;
    spoil(join(dataDir, 'chain.json'));
    // Two chains created in the same second are identical.
    const ended = clockSecond();
    await until('the next second', () => clockSecond() > ended);

    const second = await start(COMPILED);
    expect(await firstBlock(second)).not.toBe(hash);
    const moved = 'moved aside the index of an earlier development chain';
    await expect.poll(() => second.log(), { timeout: HANG_MS }).toContain(moved);
    expect(second.log()).not.toContain('indexing waits');
  });

  it('fails if another development server uses the same data folder', async () => {
    const first = await start(COMPILED);
    const second = await floodgate(['dev', '--port', '0', '--data-dir', dataDir]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`in use by another Floodgate, process ${first.pid}`);
    expect(second.stderr).toContain('--data-dir');
    process.kill(first.pid, 'SIGTERM');
    expect(await first.ended).toBe(0);
  });
});
