import { Worker } from 'node:worker_threads';
import { cannotSharePort, threadsFor } from './sharePort.ts';

/** URL of `dnsThread`, the program of a thread: in the folder `dnsThread`, or next to this file in a bundle. */
const PROGRAM = new URL(
  import.meta.url.replace(/(threads\/threads|[^/]+)(?=\.[jt]s$)/, (file) =>
    file === 'threads/threads' ? 'dnsThread/dnsThread' : 'dnsThread',
  ),
);

/** Threads started in advance that have no task yet, in the order of their numbers. */
const ahead: Worker[] = [];

/**
 * Starts the configured number of threads for UDP, and one for TCP, in advance. Each promise resolves when a thread has
 * loaded its code or has exited.
 */
export function prestartThreads(threads: number): readonly Promise<unknown>[] {
  if (threads === 1) return [];
  const count = threadsFor(threads, cannotSharePort());
  for (let index = 0; index <= count; index++) ahead.push(newThread(index));
  return ahead.map((worker) => {
    // The error is ignored: acquireThread() replaces a failed thread, and its caller handles errors of the new
    // thread.
    worker.on('error', () => undefined);
    return new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
  });
}

/** Returns a thread that waits for its task: one that was started in advance if it still runs, otherwise a new one. */
export function acquireThread(index: number): Worker {
  const worker = ahead.shift();
  const hasEnded = worker === undefined || worker.threadId < 0;
  return hasEnded ? newThread(index) : worker;
}

const newThread = (index: number): Worker => new Worker(PROGRAM, { name: `dns-${index}` });
