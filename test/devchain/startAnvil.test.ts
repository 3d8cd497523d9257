import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Anvil, type AnvilOptions, connect, startAnvil } from '../support/anvil.ts';
import { HANG_MS } from '../support/hang.ts';
import { spawnGuarded } from '../support/spawn.ts';

let folder: string;
const anvils: Anvil[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-anvil-'));
});
afterEach(async () => {
  await Promise.all(anvils.splice(0).map((anvil) => anvil.stop()));
  await rm(folder, { recursive: true });
});

async function start(options: AnvilOptions = {}): Promise<Anvil> {
  const anvil = await startAnvil(options);
  anvils.push(anvil);
  return anvil;
}

const [ALICE, BOB] = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
];

async function transferInABlock(url: string): Promise<void> {
  const node = connect(url);
  await node.call('eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1' });
  await node.call('evm_mine');
}

/** Returns whether a process runs. A zombie (exited, not yet reaped by its parent) does not count. */
async function runs(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

/** A program that starts anvil, prints its pid and URL, and runs until it is killed, as `npm start` does. */
const HOLDER = `
  import { startAnvil } from ${JSON.stringify(new URL('../../dist/devchain/index.js', import.meta.url).href)};
  const { pid, url } = await startAnvil({ statePath: process.argv[1] });
  console.log(JSON.stringify({ pid, url }));`;

/** Runs `HOLDER` as a child of a shell, as npm does, both in a new process group. */
async function holdAnvil(statePath: string): Promise<{ group: number; pid: number; url: string }> {
  const command = '"$0" --input-type=module -e "$1" "$2"; true';
  const shell = spawnGuarded('sh', ['-c', command, process.execPath, HOLDER, statePath]);
  shell.stderr.resume();
  const [line] = await once(createInterface({ input: shell.stdout }), 'line');
  return { group: shell.pid ?? Number.NaN, ...JSON.parse(line) };
}

describe('startAnvil', () => {
  test('serves JSON-RPC on loopback, each instance on a different port', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(one.url).not.toBe(two.url);
    expect(await connect(one.url).call('eth_chainId')).toBe('0x7a69');
  });

  test('ends the process when stop() is called, also repeatedly', async () => {
    const anvil = await start();
    await Promise.all([anvil.stop(), anvil.stop()]);
    await anvil.stop();
    await anvil.exited;
    expect(await runs(anvil.pid)).toBe(false);
  });

  test('resolves exited when the process ends without stop()', async () => {
    const anvil = await start();
    process.kill(anvil.pid, 'SIGKILL');
    expect(await anvil.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('starts anvil in its own process group, so that Ctrl-C in a terminal does not reach it', async () => {
    const anvil = await start();
    const stat = await readFile(`/proc/${anvil.pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) return; // macOS has no /proc to read the process group from
    const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect([group, session]).toEqual([String(anvil.pid), String(anvil.pid)]);
  });

  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'ends anvil when the process group of its parent is killed with %s',
    async (signal) => {
      const { group, pid } = await holdAnvil(join(folder, 'state.json'));
      expect(await runs(pid)).toBe(true);
      process.kill(-group, signal);
      await vi.waitUntil(async () => !(await runs(pid)), { timeout: HANG_MS });
    },
  );

  test('keeps anvil running when its output is not read', async () => {
    const { url } = await start();
    const calls = Array.from({ length: 20_000 }, () => ['eth_chainId'] as const);
    const answers = await connect(url).batch(calls); // anvil prints a line per call, which exceeds a pipe's buffer
    expect(answers).toHaveLength(calls.length);
  });

  test('rejects with the last output lines of a process that does not start', async () => {
    await expect(startAnvil({ extraArgs: ['--no-such-flag'] })).rejects.toThrow(/--no-such-flag/);
  });

  test('mines blocks at an interval if blockTimeMs is set', async () => {
    const { url } = await start({ blockTimeMs: 100 });
    await vi.waitUntil(async () => (await connect(url).call('eth_blockNumber')) !== '0x0', {
      timeout: HANG_MS,
    });
  });
});

describe('startAnvil with a statePath', () => {
  test('continues the chain after stop(), with the traces of old blocks', async () => {
    const statePath = join(folder, 'state.json');
    const first = await start({ statePath });
    expect(first.fresh).toBe(true);
    await transferInABlock(first.url);
    const traces = await connect(first.url).call('trace_block', '0x1');
    await first.stop();

    const second = await start({ statePath });
    expect(second.fresh).toBe(false);
    expect(await connect(second.url).call('trace_block', '0x1')).toEqual(traces);
    await transferInABlock(second.url);
    expect(await connect(second.url).call('trace_block', '0x2')).toHaveLength(1);
  });

  test('keeps block 0 over any number of restarts', async () => {
    const statePath = join(folder, 'state.json');
    const first = await start({ statePath });
    await transferInABlock(first.url);
    const genesis = await connect(first.url).call('eth_getBlockByNumber', '0x0', false);
    await first.stop();
    const nowSeconds = Math.floor(Date.now() / 1000);
    for (let hour = 1; hour <= 6; hour++) {
      // anvil's own genesis block depends on the time of the start.
      const next = await start({ statePath, extraArgs: ['--timestamp', String(nowSeconds + hour * 3600)] });
      expect(await connect(next.url).call('eth_getBlockByNumber', '0x0', false)).toEqual(genesis);
      await next.stop();
    }
  });

  test('continues from the last save after SIGKILL', async () => {
    const statePath = join(folder, 'state.json');
    const first = await start({ statePath });
    await transferInABlock(first.url);
    await first.save();
    await transferInABlock(first.url);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;

    const second = await start({ statePath });
    expect(second.fresh).toBe(false);
    expect(await connect(second.url).call('eth_blockNumber')).toBe('0x1');
  });

  test('ignores an unfinished save', async () => {
    const statePath = join(folder, 'state.json');
    const first = await start({ statePath });
    await transferInABlock(first.url);
    await first.stop();
    await writeFile(`${statePath}.unfinished`, '{"block":{"num');

    expect((await start({ statePath })).fresh).toBe(false);
  });

  test('keeps the state file if anvil fails for another reason', async () => {
    const statePath = join(folder, 'state.json');
    await writeFile(statePath, '{}');
    await expect(startAnvil({ statePath, extraArgs: ['--no-such-flag'] })).rejects.toThrow(/--no-such-flag/);
    expect(existsSync(statePath)).toBe(true);
  });

  test.each([
    ['truncated', '{"block":{"num'],
    ['empty', ''],
    ['of another version', '{"accounts":{}, "blocks": 7}'],
  ])('starts a new chain, logs it and renames the state file if the file is %s', async (_, content) => {
    const statePath = join(folder, 'state.json');
    await writeFile(statePath, content);
    const log = vi.fn();
    const anvil = await start({ statePath, log });
    expect(anvil.fresh).toBe(true);
    expect(await connect(anvil.url).call('eth_blockNumber')).toBe('0x0');
    expect(log.mock.calls).toEqual([[expect.stringContaining(`${statePath}.unreadable`)]]);
    expect(await readFile(`${statePath}.unreadable`, 'utf8')).toBe(content);
    expect(existsSync(statePath)).toBe(false);
  });
});
