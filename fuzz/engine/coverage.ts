import { type Profiler, Session } from 'node:inspector';

/** Whether a run executed code that no earlier run did, and how much code it executed. */
export interface Observed {
  readonly isNew: boolean;
  /** Number of executed blocks, summed over all blocks that V8 counts. */
  readonly work: number;
}

/**
 * Counts how often each block of the code under test is executed, with V8's own counters. Only code loaded after
 * `start` is counted, because V8 adds counters when it compiles. Reading the counters takes 1 to 2 ms, regardless of
 * the executed code.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #isCounted: (url: string) => boolean;
  readonly #countedScripts = new Map<string, boolean>();

  /** @param isCounted returns whether the script at a URL is code under test. */
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

  /** Returns what was executed since the last call, and adds it to `features`. */
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
    // Within one thread the inspector calls back before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error) throw new Error(`cannot read coverage: ${error.message}`);
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

/** Set of executed blocks; if `byCount`, set of pairs of a block and the power of two of its count. */
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

/** Multiplier that combines two offsets into one key. */
const MAX_SCRIPT_LENGTH = 2 ** 26;

/**
 * Features of one function. V8 reports ranges, each nested in or after the previous one, and omits those with the
 * same count as the enclosing range. So the start offsets of all ranges are kept, and the count at each is looked up.
 */
class FunctionFeatures {
  readonly #places: number[] = [];
  /** For each start offset the counts seen there, one bit each. */
  readonly #seen: number[] = [];

  /** Returns the number of new features. */
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

/** The innermost range is the last one that contains the offset. */
function countAt(ranges: readonly Profiler.CoverageRange[], place: number): number {
  let counted = 0;
  for (const { startOffset, endOffset, count } of ranges)
    if (startOffset <= place && place < endOffset) counted = count;
  return counted;
}

const MAX_BIT = 8;

/** Returns the bit of a count's power of two; 0 for no execution. */
const bitOf = (count: number): number =>
  count === 0 ? 0 : 1 << Math.min(MAX_BIT, Math.floor(Math.log2(count)));
