import { Worker } from 'node:worker_threads';
import { ImportError } from './format.ts';
import type { PreparedBlock, Unit } from './prepareUnit.ts';

/** Prepares the blocks of a unit. Rejects with ImportError. */
export type Prepare = (unit: Unit) => Promise<readonly PreparedBlock[]>;

/** Answer of a thread to a unit. */
export type Answer =
  | { readonly blocks: readonly PreparedBlock[] }
  | { readonly message: string; readonly stack: string | undefined; readonly isImportError: boolean };

/** URL of the program of a thread, which is next to this file, also in a bundle. */
const PROGRAM = new URL(import.meta.url.replace(/[^/]+(?=\.[jt]s$)/, 'importThread'));

/** Threads that prepare units, one unit each at a time. */
export class ImportThreads {
  readonly #workers: readonly Worker[];
  readonly #idle: Worker[];
  readonly #waiting: ((worker: Worker) => void)[] = [];

  constructor(count: number) {
    this.#workers = Array.from({ length: count }, (_, i) => new Worker(PROGRAM, { name: `import-${i}` }));
    for (const worker of this.#workers) worker.setMaxListeners(0).on('error', () => undefined);
    this.#idle = [...this.#workers];
  }

  readonly prepare: Prepare = async (unit) => {
    const worker =
      this.#idle.pop() ?? (await new Promise<Worker>((resolve) => void this.#waiting.push(resolve)));
    try {
      const answer = await answerOf(worker, unit);
      if ('blocks' in answer) return answer.blocks;
      if (answer.isImportError) throw new ImportError(answer.message);
      throw Object.assign(new Error(answer.message), { stack: answer.stack });
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(worker);
      else next(worker);
    }
  };

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function answerOf(worker: Worker, unit: Unit): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('a thread of the import ended: is the memory exhausted?'));
    worker.once('exit', ended);
    worker.once('error', reject);
    worker.once('message', (answer: Answer) => {
      worker.off('exit', ended);
      worker.off('error', reject);
      resolve(answer);
    });
    if (worker.threadId < 0) ended();
    else worker.postMessage(unit);
  });
}
