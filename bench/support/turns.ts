import { type LoadResult, load } from './load.ts';

/** Connections of the load: enough to keep one server process busy, few enough that queueing does not dominate. */
export const CONNECTIONS = 8;

export interface Contender {
  readonly url: string;
  readonly bodies: readonly Buffer[];
}

/**
 * Measures several servers in alternation, so that other work of the machine affects all of them, and returns the
 * measurement of median throughput for each. The first measurement of each is a warm-up and not counted.
 */
export async function inTurns(
  contenders: readonly Contender[],
  turnMs: number,
  turns: number,
): Promise<LoadResult[]> {
  const results: LoadResult[][] = contenders.map(() => []);
  for (let turn = 0; turn <= turns; turn++)
    for (const [i, { url, bodies }] of contenders.entries()) {
      const result = await load({ url, bodies, connections: CONNECTIONS, durationMs: turnMs });
      if (turn > 0) results[i]?.push(result);
    }
  return results.map(median);
}

function median(results: readonly LoadResult[]): LoadResult {
  const sorted = [...results].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[sorted.length >>> 1];
  if (middle === undefined) throw new Error('no measurement');
  return middle;
}

/** A line of a benchmark's table. */
interface Row {
  readonly name: string;
  readonly value: number;
  /** Required value. */
  readonly must: string;
  /** Details of the measurement. */
  readonly note: string;
}

/** Prints one line of a benchmark's table. */
export function row({ name, value, must, note }: Row): void {
  console.log(`${name.padEnd(46)} ${value.toFixed(2).padStart(8)}   ${must.padEnd(22)} ${note}`);
}

/** Overwrites a counter on a terminal. */
export function progress(done: number, total: number): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${total} blocks${done === total ? '\n' : ''}`);
}
