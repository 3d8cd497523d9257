import { segmentOf } from '../../../../traces/index.ts';
import { addAttributes } from './addAttributes.ts';
import { buildRun } from './buildRun.ts';
import { mergeRuns } from './mergeRuns.ts';
import { MAX_LEVEL, NO_RUN, runOf, type SegmentStates, segmentsPerRun } from './segmentStates.ts';
import type { DirectoryWork } from './work.ts';

type Task = (work: DirectoryWork) => Promise<void>;

/**
 * Keeps the directory: whoever writes the index runs it beside everything else, a few milliseconds at a time. Until it has come to a
 * segment that is looked at itself, so nothing waits for it.
 */
export class DirectoryUpkeep {
  readonly #work: DirectoryWork;
  #running: Promise<void> | undefined;
  #isStopped = false;
  readonly #changes = new Map<number, number>();

  constructor(work: Omit<DirectoryWork, 'isStopped' | 'changesOf'>) {
    this.#work = {
      ...work,
      isStopped: () => this.#isStopped,
      changesOf: (segment) => this.#changes.get(segment) ?? 0,
    };
  }

  /** Blocks of these segments were changed: what is being made of them is made anew. */
  changed(segments: Iterable<number>): void {
    for (const segment of segments) this.#changes.set(segment, (this.#changes.get(segment) ?? 0) + 1);
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#isStopped || this.#running !== undefined) return;
    // What fails is tried again with the next change, or fails with it.
    this.#running = this.#run()
      .catch(() => undefined)
      .finally(() => {
        this.#running = undefined;
      });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let task = await this.#next(); task !== undefined && !this.#isStopped; task = await this.#next())
      await task(this.#work);
  }

  async #next(): Promise<Task | undefined> {
    let task: Task | undefined;
    await this.#work.inTurn(() => {
      task = nextTask(this.#work);
    });
    return task;
  }
}

/** To be called in a turn. */
function nextTask({ state, changesOf }: DirectoryWork): Task | undefined {
  const index = state();
  if (index.blocksWithoutAttributes() !== undefined) return addAttributes;
  const head = index.head();
  if (head === undefined) return undefined;
  const unmerged = new Set(index.unmerged().map(({ segment }) => segment));
  const states = index.segmentStates();
  for (const { first, last, level } of states.spans()) {
    if (level !== NO_RUN) continue;
    for (let segment = first; segment <= last; segment++)
      if (segment < segmentOf(head.number) && !unmerged.has(segment)) {
        const changes = changesOf(segment);
        return (work) => buildRun(work, segment, () => changesOf(segment) === changes);
      }
  }
  return nextMerge(states);
}

/** Runs of one level that are whole together become one of the next. */
function nextMerge(states: SegmentStates): Task | undefined {
  for (const { first, level } of states.spans()) {
    if (level === NO_RUN || level === MAX_LEVEL) continue;
    const run = runOf(level + 1, first);
    if (isCovered(states, run, level)) return (work) => mergeRuns(work, { level: level + 1, run });
  }
  return undefined;
}

/** Whether every segment of what would be a run is in one of a level up to `level`. */
function isCovered(states: SegmentStates, run: number, level: number): boolean {
  const segments = segmentsPerRun(level + 1);
  const first = run * segments;
  for (let segment = first; segment < first + segments; segment++) {
    const its = states.levelOf(segment);
    if (!states.hasBlocks(segment) || its === NO_RUN || its > level) return false;
  }
  return true;
}
