import { setTimeout as rest } from 'node:timers/promises';

/** What came of one kind of load: how much was answered rightly, refused or failed, and each wrong answer. */
export class Tally {
  readonly name: string;
  right = 0;
  /** Errors, refusals and silence: allowed while something is broken. */
  failed = 0;
  wrong = 0;
  /** Answers of blocks that had been replaced a moment ago: right when asked again. */
  stale = 0;
  /** For how long, at most. */
  longestStaleMs = 0;

  constructor(name: string) {
    this.name = name;
  }

  isStale(ms: number): void {
    this.stale++;
    this.longestStaleMs = Math.max(this.longestStaleMs, ms);
  }

  /** A wrong answer, or something that is lost. Printed at once, the first of them. */
  isWrong(what: string, details: unknown): void {
    if (this.wrong++ >= MAX_PRINTED) return;
    const text = JSON.stringify(details) ?? '';
    console.log(`WRONG (${this.name}): ${what} ${text.slice(0, MAX_PRINTED_LENGTH)}`);
  }
}

const MAX_PRINTED = 5;
const MAX_PRINTED_LENGTH = 1_000;

/** One step after the other until the load ends; a step that throws counts as failed. */
export async function repeat(
  isOver: () => boolean,
  tally: Tally,
  step: () => Promise<unknown>,
): Promise<void> {
  while (!isOver())
    try {
      await step();
    } catch {
      tally.failed++;
      await rest(FAILED_REST_MS);
    }
}

const FAILED_REST_MS = 50;
/** A request that nobody answers is given up. */
export const REQUEST_TIMEOUT_MS = 20_000;

export { rest };
