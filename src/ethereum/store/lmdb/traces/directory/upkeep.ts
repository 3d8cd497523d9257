import { segmentOf } from '../../../../traces/index.ts';
import { buildRun } from './buildRun.ts';
import { mergeRuns } from './mergeRuns.ts';
import { MAX_LEVEL, NO_RUN, runOf, type SegmentStates, segmentsPerRun } from './segmentStates.ts';
import type { UpkeepContext } from './upkeepContext.ts';

type Task = (work: UpkeepContext) => Promise<void>;

/**
 * Builds and merges the directory's runs in the background, a few milliseconds at a time. Lookups do not wait for it.
 */
export class DirectoryUpkeep {
  readonly #work: UpkeepContext;
  #running: Promise<void> | undefined;
  #isStopped = false;
  readonly #changes = new Map<number, number>();

  constructor(work: Omit<UpkeepContext, 'isStopped' | 'changesOf'>) {
    this.#work = {
      ...work,
      isStopped: () => this.#isStopped,
      changesOf: (segment) => this.#changes.get(segment) ?? 0,
    };
  }

  /** Records that blocks of these segments have changed. A run that is being built for one of them is built again. */
  changed(segments: Iterable<number>): void {
    for (const segment of segments) this.#changes.set(segment, (this.#changes.get(segment) ?? 0) + 1);
  }

  wake(): void {
    if (this.#isStopped || this.#running !== undefined) return;
    // A failed task is retried after the next change.
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
    await this.#work.runExclusive(() => {
      task = nextTask(this.#work);
    });
    return task;
  }
}

/**
 * Returns the next run to build, or else the next merge. Must be called while no change of the index is in progress.
 */
function nextTask({ state, changesOf }: UpkeepContext): Task | undefined {
  const index = state();
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

/** Returns a task that merges runs into one run of the next level, if runs already cover all segments of that run. */
function nextMerge(states: SegmentStates): Task | undefined {
  for (const { first, level } of states.spans()) {
    if (level === NO_RUN || level === MAX_LEVEL) continue;
    const run = runOf(level + 1, first);
    if (isCovered(states, run, level)) return (work) => mergeRuns(work, { level: level + 1, run });
  }
  return undefined;
}

/** Whether each segment of run `run` of the next level is covered by a run whose level is at most `level`. */
function isCovered(states: SegmentStates, run: number, level: number): boolean {
  const segments = segmentsPerRun(level + 1);
  const first = run * segments;
  for (let segment = first; segment < first + segments; segment++) {
    const its = states.levelOf(segment);
    if (!states.hasBlocks(segment) || its === NO_RUN || its > level) return false;
  }
  return true;
}
