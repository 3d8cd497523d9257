import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { canListProcesses, running } from '../server/support/processes.ts';
import { spawnGuarded } from './spawn.ts';
import { until } from './until.ts';

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const ABANDONED = fileURLToPath(new URL('./abandoned', import.meta.url));

/**
 * Runs a test file that starts a server and does not stop it; resolves when the server runs. It is started without a
 * guard, which would end the server, too.
 */
async function abandon(how: 'throws' | 'hangs' | 'waits') {
  const env = { ...process.env, ABANDON: how };
  const child = fork(VITEST, ['run', '--root', ABANDONED], { env, silent: true });
  const { stdout, stderr } = child;
  if (stdout === null) throw new Error('stdout of the child is not a pipe');
  stderr?.resume();
  const reported = await new Promise<{ server: number; worker: number }>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const [, server, worker] = /server (\d+) of (\d+)/.exec(line)?.map(Number) ?? [];
      if (server !== undefined && worker !== undefined) resolve({ server, worker });
    });
    child.once('exit', () => reject(new Error('the tests ended before the server was started')));
  });
  return { child, ...reported };
}

describe.skipIf(!canListProcesses)('a server that a test started ends', () => {
  it.each(['throws', 'hangs'] as const)('if a hook of the test %s', async (how) => {
    const { server } = await abandon(how);
    await until('the server to end', () => running([server]).length === 0);
  });

  it.each(['worker', 'command'] as const)('if the %s of vitest is killed', async (which) => {
    const { child, server, worker } = await abandon('waits');
    expect(running([server])).toEqual([server]);
    if (which === 'worker') process.kill(worker, 'SIGKILL');
    else child.kill('SIGKILL');
    await until('the server to end', () => running([server]).length === 0);
  });
});

/** A program that starts another one with spawnGuarded; that one starts a third, and both ignore SIGTERM. */
const STUBBORN = `
  import { spawnGuarded } from ${JSON.stringify(new URL('../../dist/devchain/index.js', import.meta.url).href)};
  const { pid, stdout } = spawnGuarded('sh', ['-c', "trap '' TERM; sleep 1000 & echo $!; wait"]);
  stdout.on('data', (below) => console.log('stubborn', pid, String(below)));`;

it('spawnGuarded ends a program together with its child when the parent is killed, even if both ignore SIGTERM', async (ctx) => {
  if (!canListProcesses) ctx.skip('this system has no /proc to list processes');
  const parent = spawnGuarded(process.execPath, ['--input-type=module', '-e', STUBBORN]);
  parent.stderr.resume();
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  const pids = /stubborn (\d+) (\d+)/.exec(line)?.slice(1).map(Number) ?? [];
  expect(running(pids)).toHaveLength(2);
  parent.kill('SIGKILL');
  await until('both processes to end', () => running(pids).length === 0);
});
