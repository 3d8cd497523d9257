import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceEnvironment } from '../environment.ts';
import { STATE_KEY } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { encodeVersion } from '../records.ts';
import type { Writes } from '../write/writes.ts';
import { SEGMENTS_KEY } from './directoryKeys.ts';
import { SegmentStates } from './segmentStates.ts';

/** Approximate maximum time for which one step of a task blocks the thread. */
export const STEP_MS = 3;

export interface UpkeepContext {
  readonly environment: TraceEnvironment;
  /**
   * Returns the current state of the index. It is valid during one step, so each step must call this function again.
   */
  readonly state: () => IndexState;
  /** Runs `step` while no change of the index is in progress. Changes wait until the step ends. */
  readonly runExclusive: (step: () => Promise<void> | void) => Promise<void>;
  readonly commit: (writes: Writes) => Promise<void>;
  readonly isStopped: () => boolean;
  /** Returns how many times blocks of a segment have changed since the process started. */
  readonly changesOf: (segment: number) => number;
}

/**
 * Runs `step` again and again until it returns true or the upkeep is stopped. After each step, pauses for as long as
 * the step took, at most STEP_MS.
 */
export async function inSteps(work: UpkeepContext, step: () => Promise<boolean> | boolean): Promise<void> {
  for (let isLast = false; !isLast && !work.isStopped(); ) {
    let tookMs = 0;
    await work.runExclusive(async () => {
      const started = performance.now();
      isLast = await step();
      tookMs = performance.now() - started;
    });
    if (!isLast) await sleep(Math.min(tookMs, STEP_MS));
  }
}

export function changeStates(
  { environment, state }: UpkeepContext,
  writes: Writes,
  change: (states: SegmentStates) => void,
): void {
  const states = new SegmentStates(state().segmentStates().encode());
  change(states);
  writes.put(environment.meta, SEGMENTS_KEY, states.encode());
  const { changes, rewrites } = state().refreshSnapshot();
  writes.put(environment.meta, STATE_KEY, encodeVersion({ changes: changes + 1, rewrites }));
}
