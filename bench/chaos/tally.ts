import { setTimeout as rest } from 'node:timers/promises';

/** Results of one kind of load: correct, failed, stale and wrong answers. */
export class Tally {
  readonly name: string;
  right = 0;
  /** Errors, rejections and timeouts: allowed during faults. */
  failed = 0;
  wrong = 0;
  /** Answers from blocks that had just been replaced; correct after a retry. */
  stale = 0;
  /** Longest time until such an answer was correct. */
  longestStaleMs = 0;

  constructor(name: string) {
    this.name = name;
  }

  isStale(ms: number): void {
    this.stale++;
    this.longestStaleMs = Math.max(this.longestStaleMs, ms);
  }

  /** Counts a wrong answer or lost data. The first ones are printed at once. */
  isWrong(what: string, details: unknown): void {
    if (this.wrong++ >= MAX_PRINTED) return;
    const text = JSON.stringify(details) ?? '';
    console.log(`WRONG (${this.name}): ${what} ${text.slice(0, MAX_PRINTED_LENGTH)}`);
  }
}

const MAX_PRINTED = 5;
const MAX_PRINTED_LENGTH = 1_000;

/** Repeats a step until the load ends; a step that throws counts as failed. */
export async function repeat(
  isFinished: () => boolean,
  tally: Tally,
  step: () => Promise<unknown>,
): Promise<void> {
  while (!isFinished())
    try {
      await step();
    } catch {
      tally.failed++;
      await rest(FAILED_REST_MS);
    }
}

const FAILED_REST_MS = 50;
/** Timeout of a request without a response. */
export const REQUEST_TIMEOUT_MS = 20_000;

export { rest };
