import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext } from 'vitest';

/** Creates a folder that is removed at the end of the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-faults-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Mounts a small file system for the test; skips the test if that is not possible. */
export function smallFileSystem(
  context: TestContext,
  bytes: number,
): { folder: string; readOnly: () => void } {
  const folder = temporaryFolder();
  const mount = (...args: string[]) => spawnSync('mount', args, { encoding: 'utf8' });
  const { status, stderr, error } = mount('-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder);
  if (status !== 0) context.skip(`cannot mount a tmpfs: ${error?.message ?? stderr.trim()}`);
  onTestFinished(() => {
    spawnSync('umount', ['-l', folder]);
  });
  return {
    folder,
    readOnly() {
      expect(mount('-o', 'remount,ro', folder).status).toBe(0);
    },
  };
}
