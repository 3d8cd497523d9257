import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceEnvironment } from '../environment.ts';
import { STATE_KEY } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { encodeVersion } from '../records.ts';
import type { Writes } from '../writes.ts';
import { SEGMENTS_KEY } from './directoryKeys.ts';
import { SegmentStates } from './segmentStates.ts';

/** A step holds the thread for about so long. */
export const STEP_MS = 3;

/** What the upkeep of the directory works with. */
export interface DirectoryWork {
  readonly environment: TraceEnvironment;
  /** The index as it is now; to be asked for in each turn. */
  readonly state: () => IndexState;
  /** Carries out a step while nobody changes the index. */
  readonly inTurn: (step: () => Promise<void> | void) => Promise<void>;
  readonly commit: (writes: Writes) => Promise<void>;
  readonly isStopped: () => boolean;
  /** Another number whenever blocks of a segment have changed since this process began. */
  readonly changesOf: (segment: number) => number;
}

/** Takes one step after the other, with as much time for others between them, until one is the last, or all is stopped. */
export async function inSteps(work: DirectoryWork, step: () => Promise<boolean> | boolean): Promise<void> {
  for (let isLast = false; !isLast && !work.isStopped(); ) {
    let tookMs = 0;
    await work.inTurn(async () => {
      const started = performance.now();
      isLast = await step();
      tookMs = performance.now() - started;
    });
    if (!isLast) await sleep(Math.min(tookMs, STEP_MS));
  }
}

/** Has the states of segments changed with what is written. */
export function changeStates(
  { environment, state }: DirectoryWork,
  writes: Writes,
  change: (states: SegmentStates) => void,
): void {
  const states = new SegmentStates(state().segmentStates().encode());
  change(states);
  writes.put(environment.meta, SEGMENTS_KEY, states.encode());
  const { changes, rewrites } = state().refreshSnapshot();
  writes.put(environment.meta, STATE_KEY, encodeVersion({ changes: changes + 1, rewrites }));
}
