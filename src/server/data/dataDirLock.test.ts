import { once } from 'node:events';
import fs, { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { spawnGuarded } from '../../../test/support/spawn.ts';
import { until } from '../../../test/support/until.ts';
import { lockDataDir } from './dataDirLock.ts';

const statOf = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

it('lockDataDir respects the lock of a running process and takes over the lock of a zombie', async (ctx) => {
  if (!existsSync('/proc/self/stat')) return ctx.skip('this system has no /proc to look for processes in');
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-lock-'));
  // This parent never waits for its child, so the child becomes a zombie.
  const parent = spawnGuarded('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {});
  onTestFinished(() => {
    parent.kill('SIGTERM');
    rmSync(folder, { recursive: true });
  });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(line);
  // The shell would wait for the child.
  const name = () => readFileSync(`/proc/${statOf(pid)[1]}/comm`, 'utf8');
  await until('its parent is no shell any more', () => name() === 'sleep\n');
  const file = join(folder, 'floodgate.lock');
  const owner = JSON.stringify({ pid, started: statOf(pid)[19] });
  const inUse = `in use by another Floodgate, process ${pid}`;
  writeFileSync(file, owner);
  expect(() => lockDataDir(folder), 'the lock of a program before November 2026').toThrow(inUse);
  rmSync(file);
  symlinkSync(owner, file);
  expect(() => lockDataDir(folder)).toThrow(inUse);
  process.kill(pid, 'SIGKILL');
  await until('it has ended', () => statOf(pid)[0] === 'Z');
  lockDataDir(folder).release();
});

it('a server can stop while its data folder is read-only, and start again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-lock-'));
  const { release } = lockDataDir(folder);
  vi.spyOn(fs, 'rmSync').mockImplementation(() => {
    throw new Error('EROFS: read-only file system');
  });
  syncBuiltinESMExports();
  try {
    release();
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
  lockDataDir(folder).release();
  rmSync(folder, { recursive: true });
});
