import { Worker } from 'node:worker_threads';
import { cannotSharePort, threadsFor } from './sharePort.ts';

/** The program of a thread: of the room around this one, as source or compiled, or beside this file where all is bundled. */
const PROGRAM = new URL(import.meta.url.replace(/(threads\/)?[^/]+(\.[jt]s)$/, 'udpThread$2'));

/** They wait for a task, in the order of their numbers. */
const ahead: Worker[] = [];

/** Starts the threads that a guard with so many `workers` takes later. Each is told of once it has loaded what it runs. */
export function startThreadsAhead(workers: number): readonly Promise<unknown>[] {
  const count = threadsFor(workers, cannotSharePort());
  if (count === 1) return [];
  for (let index = 0; index < count; index++) ahead.push(newThread(index));
  return ahead.map((worker) => {
    // Another one is started in its place, and heard where it fails, too.
    worker.on('error', () => undefined);
    return new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
  });
}

/** A thread whose first message is to be its task: one that was started ahead, where there is one that still runs. */
export function takeThread(index: number): Worker {
  const worker = ahead.shift();
  const hasEnded = worker === undefined || worker.threadId < 0;
  return hasEnded ? newThread(index) : worker;
}

const newThread = (index: number): Worker => new Worker(PROGRAM, { name: `dns-${index}` });
