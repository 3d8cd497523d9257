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
 * Runs a test file of its own that starts a server and ends without stopping it; resolves when it has the server. It is
 * not started guarded: that would end the server, too.
 */
async function abandon(how: 'throws' | 'hangs' | 'waits') {
  const env = { ...process.env, ABANDON: how };
  const child = fork(VITEST, ['run', '--root', ABANDONED], { env, silent: true });
  const { stdout, stderr } = child;
  if (stdout === null) throw new Error('its output is a pipe');
  stderr?.resume();
  const told = await new Promise<{ server: number; worker: number }>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const [, server, worker] = /server (\d+) of (\d+)/.exec(line)?.map(Number) ?? [];
      if (server !== undefined && worker !== undefined) resolve({ server, worker });
    });
    child.once('exit', () => reject(new Error('the tests ended before they had a server')));
  });
  return { child, ...told };
}

describe.skipIf(!canListProcesses)('a server that a test started ends with it', () => {
  it.each(['throws', 'hangs'] as const)('where its hook %s', async (how) => {
    const { server } = await abandon(how);
    await until('the server has ended', () => running([server]).length === 0);
  });

  it.each(['worker', 'command'] as const)('where the %s is killed', async (which) => {
    const { child, server, worker } = await abandon('waits');
    expect(running([server])).toEqual([server]);
    if (which === 'worker') process.kill(worker, 'SIGKILL');
    else child.kill('SIGKILL');
    await until('the server has ended', () => running([server]).length === 0);
  });
});

/** A program that starts another one guarded, which starts a third and ignores SIGTERM, as that does. */
const STUBBORN = `
  import { spawnGuarded } from ${JSON.stringify(new URL('../../dist/devchain/index.js', import.meta.url).href)};
  const { pid, stdout } = spawnGuarded('sh', ['-c', "trap '' TERM; sleep 1000 & echo $!; wait"]);
  stdout.on('data', (below) => console.log('stubborn', pid, String(below)));`;

it('a program that is started guarded is ended with what it started, also where both ignore SIGTERM', async (ctx) => {
  if (!canListProcesses) ctx.skip('this system has no /proc to look for processes in');
  const parent = spawnGuarded(process.execPath, ['--input-type=module', '-e', STUBBORN]);
  parent.stderr.resume();
  const [line] = await once(createInterface({ input: parent.stdout }), 'line');
  const pids = /stubborn (\d+) (\d+)/.exec(line)?.slice(1).map(Number) ?? [];
  expect(running(pids)).toHaveLength(2);
  parent.kill('SIGKILL');
  await until('both have ended', () => running(pids).length === 0);
});
