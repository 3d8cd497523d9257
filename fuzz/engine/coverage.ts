import { type Profiler, Session } from 'node:inspector';

/** What one run did that no run before it did, and how much it did in all. */
export interface Observed {
  readonly isNew: boolean;
  /** Executions of blocks, of each that V8 counts apart. */
  readonly work: number;
}

/**
 * Which blocks of the code under test were executed, and how often, by V8's own counters. Code counts that is loaded after
 * `start`: V8 adds counters when it compiles. To take them costs a millisecond or two, whatever was executed.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #isCounted: (url: string) => boolean;
  readonly #countedScripts = new Map<string, boolean>();

  /** @param isCounted by the URL of a script, whether it is code under test. */
  constructor(isCounted: (url: string) => boolean) {
    this.#isCounted = isCounted;
  }

  start(): void {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  stop(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.post('Profiler.disable');
    this.#session.disconnect();
  }

  /** What was executed since the last time, noted in `features`. */
  take(features: Features): Observed {
    let work = 0;
    const before = features.count;
    for (const { scriptId, url, functions } of this.#counts()) {
      if (!this.#isUnderTest(scriptId, url)) continue;
      for (const { ranges } of functions) {
        features.note(scriptId, ranges);
        for (const { count } of ranges) work += count;
      }
    }
    return { isNew: features.count > before, work };
  }

  #counts(): readonly Profiler.ScriptCoverage[] {
    let counts: readonly Profiler.ScriptCoverage[] = [];
    // Within one thread the answer comes before the call returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error) throw new Error(`no coverage: ${error.message}`);
      counts = taken.result;
    });
    return counts;
  }

  #isUnderTest(scriptId: string, url: string): boolean {
    const known = this.#countedScripts.get(scriptId) ?? this.#isCounted(url);
    this.#countedScripts.set(scriptId, known);
    return known;
  }
}

/** Blocks that were executed; where `byCount`, pairs of a block and how often it was, by powers of two. */
export class Features {
  count = 0;
  readonly #byCount: boolean;
  readonly #scripts = new Map<string, Map<number, FunctionFeatures>>();

  constructor(options: { readonly byCount: boolean }) {
    this.#byCount = options.byCount;
  }

  note(scriptId: string, ranges: readonly Profiler.CoverageRange[]): void {
    const whole = ranges[0];
    if (whole === undefined) return;
    let functions = this.#scripts.get(scriptId);
    if (functions === undefined) {
      functions = new Map();
      this.#scripts.set(scriptId, functions);
    }
    const key = whole.startOffset * MAX_SCRIPT_LENGTH + whole.endOffset;
    let known = functions.get(key);
    if (known === undefined) {
      known = new FunctionFeatures();
      functions.set(key, known);
    }
    this.count += known.note(ranges, this.#byCount);
  }
}

/** For keys of two offsets. */
const MAX_SCRIPT_LENGTH = 2 ** 26;

/**
 * What is known of one function. V8 gives ranges, each within the one before it or behind, and leaves out those that were
 * executed as often as the one around. So the places where a range ever began are kept, and the count at each is looked up.
 */
class FunctionFeatures {
  readonly #places: number[] = [];
  /** For each place the counts that were seen there, a bit each. */
  readonly #seen: number[] = [];

  /** Returns how many features are new. */
  note(ranges: readonly Profiler.CoverageRange[], byCount: boolean): number {
    for (const { startOffset } of ranges)
      if (!this.#places.includes(startOffset)) {
        this.#places.push(startOffset);
        this.#seen.push(0);
      }
    let found = 0;
    for (const [i, place] of this.#places.entries()) {
      const count = countAt(ranges, place);
      const bit = byCount ? bitOf(count) : Math.min(1, count);
      const seen = this.#seen[i] ?? 0;
      if ((seen | bit) === seen) continue;
      this.#seen[i] = seen | bit;
      found++;
    }
    return found;
  }
}

/** The innermost range comes last. */
function countAt(ranges: readonly Profiler.CoverageRange[], place: number): number {
  let counted = 0;
  for (const { startOffset, endOffset, count } of ranges)
    if (startOffset <= place && place < endOffset) counted = count;
  return counted;
}

const MAX_BIT = 8;

/** A count by powers of two; none has no bit. */
const bitOf = (count: number): number =>
  count === 0 ? 0 : 1 << Math.min(MAX_BIT, Math.floor(Math.log2(count)));
