import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect, DEMO_BLOCKS } from '../support/anvil.ts';
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

/** Starts `floodgate dev` with the test's data folder and returns the process and the gateway URL. */
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
  throw new Error('floodgate dev exited before it printed its URL');
}

async function end(program: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  program.kill(signal);
  await once(program, 'exit');
}

/** Waits until the demo blocks are indexed and returns the hash of the first block with traces. */
async function firstIndexed(url: string): Promise<string | undefined> {
  const range = { fromBlock: 1, toBlock: DEMO_BLOCKS };
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

test('floodgate dev continues with its chain and index after SIGKILL', async () => {
  const first = await startDev();
  const hash = await firstIndexed(first.url);
  await end(first.program, 'SIGKILL');

  const second = await startDev();
  expect(await firstIndexed(second.url)).toBe(hash);
  await vi.waitFor(
    async () => {
      // New blocks are indexed too: the head advances and its traces are served.
      const head = await connect(second.url).call<string>('eth_blockNumber');
      expect(Number(head)).toBeGreaterThan(DEMO_BLOCKS + 1);
      await connect(second.url).call('trace_filter', { fromBlock: head, toBlock: head });
    },
    { timeout: HANG_MS, interval: 100 },
  );
});

test('floodgate dev starts a new chain and moves the old index aside if chain.json is corrupt', async () => {
  const first = await startDev();
  const hash = await firstIndexed(first.url);
  await end(first.program, 'SIGTERM');
  await writeFile(join(dataDir, 'chain.json'), '{"torn');

  const second = await startDev();
  expect(await firstIndexed(second.url)).not.toBe(hash);
  expect(existsSync(join(dataDir, 'traces.of-another-chain'))).toBe(true);
});
