import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { ask } from '../traces/support/ask.ts';
import { canListProcesses, familyOf, running } from './support/processes.ts';
import { floodgate, run } from './support/run.ts';
import { type Dev, startDev } from './support/startDev.ts';

const NO_PROC = 'this system has no /proc to look for processes in';
/** `floodgate dev` without the compiler before it, which takes longer than all else of a start. */
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
    const family = canListProcesses ? familyOf(dev.pid) : [dev.pid];
    families.push(...family);
    return { ...dev, family };
  }

  /** What a block of the script holds, once it is indexed: it tells one development chain from another. */
  const firstBlock = (dev: Dev): Promise<string> =>
    until('the first block is indexed', async () => {
      const { result } = await ask(dev.gatewayUrl, { fromBlock: 1, toBlock: 1, count: 1 });
      return result?.[0]?.blockHash;
    });

  const curls = (dev: Dev): string[] => dev.welcome.split('\n').filter((line) => line.startsWith('curl '));
  const rulesOf = async (dev: Dev): Promise<unknown[]> => {
    const [, list = ''] = curls(dev);
    const url = /'(http[^']+)'/.exec(list)?.[1] ?? '';
    const token = /Bearer ([^']+)/.exec(list)?.[1] ?? '';
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return ((await response.json()) as { result: unknown[] }).result;
  };

  it('prints where it is, an account, a token, and three lines that work when they are pasted', async (ctx) => {
    if (!hasCurl) ctx.skip('curl is not installed');
    const dev = await start();
    expect(dev.welcome).toMatch(/Rules API +http:\/\/127\.0\.0\.1:\d+\/client\/v4\n/);
    expect(dev.welcome).toMatch(/Gateway +http:\/\/127\.0\.0\.1:\d+\/v1\/mainnet\n/);
    expect(dev.welcome).toMatch(/Account +[A-Za-z0-9_-]+\n/);
    expect(dev.welcome).toMatch(/API token +fg_[A-Za-z0-9_-]{40}\n/);
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
    // An example is read by people.
    expect(JSON.stringify(traces).length).toBeLessThan(1500);
  });

  it('is stopped by Ctrl-C with all its children, and the next start finds everything again', async (ctx) => {
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
    // The server and the node.
    expect(first.family.length).toBeGreaterThanOrEqual(2);

    // A terminal's Ctrl-C goes to the whole foreground group.
    process.kill(-first.pid, 'SIGINT');
    expect(await first.ended).toBe(0);
    await until('nothing is left running', () => running(first.family).length === 0);
    await until('it says so', () => first.log().includes('"msg":"stopped"'));

    const second = await start(COMPILED);
    expect(await firstBlock(second)).toBe(hash);
    expect(await rulesOf(second)).toEqual(rules);
    const head = async (): Promise<number> =>
      (await ask(second.gatewayUrl, { count: 1 })).result?.[0]?.blockNumber ?? 0;
    const now = await head();
    await until('the chain goes on', async () => (await head()) > now);
  });

  it('is stopped by SIGTERM to npm', async (ctx) => {
    if (!canListProcesses) ctx.skip(NO_PROC);
    const npm = await start(['npm', 'start', '--silent', '--']);
    process.kill(npm.pid, 'SIGTERM');
    await npm.ended;
    await until('nothing is left running', () => running(npm.family).length === 0);
    await until('it says so', () => npm.log().includes('"msg":"stopped"'));
  });

  it('comes up again after kill -9 of all its processes', async (ctx) => {
    if (!canListProcesses) ctx.skip(NO_PROC);
    const first = await start(COMPILED);
    const hash = await firstBlock(first);
    // Blocks above the chain's saved state are in the index.
    const saved = (await ask(first.gatewayUrl, { count: 1 })).result?.[0]?.blockNumber ?? 0;
    await until('the index is ahead of what the chain saved', async () => {
      const { result } = await ask(first.gatewayUrl, { count: 1 });
      return (result?.[0]?.blockNumber ?? 0) > saved;
    });
    for (const pid of first.family) process.kill(pid, 'SIGKILL');
    await until('all are gone', () => running(first.family).length === 0);

    const second = await start(COMPILED);
    expect(await firstBlock(second)).toBe(hash);
    await until('the new chain is indexed beyond the old one', async () => {
      const { result } = await ask(second.gatewayUrl, { fromBlock: saved + 2, toBlock: saved + 2 });
      return result !== undefined && result.length > 0;
    });
    expect(second.log()).not.toContain('indexing waits');
  });

  it.each([
    ['gone', (file: string) => rmSync(file)],
    ['unreadable', (file: string) => writeFileSync(file, '{"torn')],
  ])('builds a new index, and says so, where the chain is %s', async (_what, spoil) => {
    const first = await start(COMPILED);
    const hash = await firstBlock(first);
    process.kill(first.pid, 'SIGTERM');
    await first.ended;
    spoil(join(dataDir, 'chain.json'));
    // Two chains that begin in the same second are one and the same.
    const ended = clockSecond();
    await until('the next second', () => clockSecond() > ended);

    const second = await start(COMPILED);
    expect(await firstBlock(second)).not.toBe(hash);
    expect(second.log()).toContain('it was set aside, and is built anew');
    expect(second.log()).not.toContain('indexing waits');
  });

  it('leaves the chain alone where another one runs on the same data folder', async () => {
    const first = await start(COMPILED);
    const second = await floodgate(['dev', '--port', '0', '--data-dir', dataDir]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`in use by another Floodgate, process ${first.pid}`);
    expect(second.stderr).toContain('--data-dir');
    process.kill(first.pid, 'SIGTERM');
    expect(await first.ended).toBe(0);
  });
});
