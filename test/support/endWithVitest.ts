import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll } from 'vitest';
import './equalBytes.ts';
import { endAbandoned, isHost } from './runHosted.ts';

/** Exits when vitest is killed. Without this, processes started by tests would keep the worker running. */
function endWithVitest(): void {
  process.exit(1);
}
if (!process.listeners('disconnect').some(({ name }) => name === endWithVitest.name))
  process.once('disconnect', endWithVitest);

/**
 * Processes started by the tests of a file. Those still running at its end, for example after a failed hook, are
 * killed, because the worker continues with other files.
 */
const started = new Set<ChildProcess>();
const note = (message: unknown): void => {
  started.add((message as { process: ChildProcess }).process); // as Node documents the channel
};
subscribe('child_process', note);

afterAll(() => {
  unsubscribe('child_process', note);
  endAbandoned();
  for (const child of started) {
    if (isHost(child) || child.exitCode !== null || child.signalCode !== null) continue;
    const [, , , leash] = child.stdio;
    // Processes started by spawnGuarded end with all their descendants when this pipe is closed.
    if (leash) leash.destroy();
    else child.kill('SIGKILL');
  }
});
