import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect, SCRIPT_BLOCKS } from '../support/anvil.ts';
import { HANG_MS } from '../support/hang.ts';
import { PROGRAM } from '../support/program.ts';
import { spawnGuarded } from '../support/spawn.ts';

let dataDir: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'floodgate-dev-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((program) => end(program, 'SIGKILL')));
  await rm(dataDir, { recursive: true });
});

/** `floodgate dev` on the test's data folder, and the URL of its gateway. */
async function startDev(): Promise<{ program: ChildProcess; url: string }> {
  const program = spawnGuarded(process.execPath, [PROGRAM, 'dev', '--port', '0', '--data-dir', dataDir]);
  program.stderr.resume();
  started.push(program);
  for await (const line of createInterface({ input: program.stdout })) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/v1\/mainnet/.exec(line)?.[0];
    if (url === undefined) continue;
    program.stdout.resume();
    return { program, url };
  }
  throw new Error('floodgate dev ended before it told its URL');
}

async function end(program: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  program.kill(signal);
  await once(program, 'exit');
}

/** The hash of the first block that is indexed, once all of the script is. */
async function firstIndexed(url: string): Promise<string | undefined> {
  const range = { fromBlock: 1, toBlock: SCRIPT_BLOCKS };
  const [traces] = await vi.waitFor(
    async () => {
      const answer = await connect(url).batch<{ blockHash: string }[]>([['trace_filter', range]]);
      if (!answer[0]?.length) throw new Error('nothing indexed yet');
      return answer;
    },
    { timeout: HANG_MS, interval: 50 },
  );
  return traces?.[0]?.blockHash;
}

test('floodgate dev finds its chain and its index again, killed as soon as it answered', async () => {
  const first = await startDev();
  const hash = await firstIndexed(first.url);
  await end(first.program, 'SIGKILL');

  const second = await startDev();
  expect(await firstIndexed(second.url)).toBe(hash);
  await vi.waitFor(
    async () => {
      // Blocks of this run are indexed too: the head moves on, and what it holds is answered.
      const head = await connect(second.url).call<string>('eth_blockNumber');
      expect(Number(head)).toBeGreaterThan(SCRIPT_BLOCKS + 1);
      await connect(second.url).call('trace_filter', { fromBlock: head, toBlock: head });
    },
    { timeout: HANG_MS, interval: 100 },
  );
});

test('floodgate dev begins anew where its chain cannot be read', async () => {
  const first = await startDev();
  const hash = await firstIndexed(first.url);
  await end(first.program, 'SIGTERM');
  await writeFile(join(dataDir, 'chain.json'), '{"torn');

  const second = await startDev();
  expect(await firstIndexed(second.url)).not.toBe(hash);
  expect(existsSync(join(dataDir, 'traces.of-another-chain'))).toBe(true);
});
