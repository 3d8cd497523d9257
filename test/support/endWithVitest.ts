import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll } from 'vitest';
import { endAbandoned, isHost } from './runHosted.ts';

/** What tests have started keeps their process alive: without this, past a killed vitest. */
function endWithVitest(): void {
  process.exit(1);
}
if (!process.listeners('disconnect').some(({ name }) => name === endWithVitest.name))
  process.once('disconnect', endWithVitest);

/** What the tests of a file started and did not end, as where a hook fails, ends with the file: the process goes on to others. */
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
    // What spawnGuarded started ends with all below it when its leash is dropped.
    if (leash) leash.destroy();
    else child.kill('SIGKILL');
  }
});
