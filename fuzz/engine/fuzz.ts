/**
 * A small coverage-guided fuzzer: mutates inputs, and keeps those that execute new code as parents of further
 * mutations. The same seed and number of runs create the same inputs.
 */
import { Random } from '../../test/support/random.ts';
import { type Coverage, Features } from './coverage.ts';
import { minimise } from './minimise.ts';
import { type Material, mutate } from './mutate.ts';
import { mutateJson } from './mutateJson.ts';
import type { Target } from './target.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Called before each batch with the number of runs so far; returns whether to continue. */
  readonly goesOn: (runs: number) => boolean;
  /** Must be started before the code under test is loaded. Default: no guidance, mutations of the seeds only. */
  readonly coverage?: Coverage;
  /** Called once for each kind of failure, with a minimised input. */
  readonly onFinding?: (finding: Finding) => void;
}

export interface Finding {
  readonly input: Uint8Array;
  /** Identifies the kind of failure. */
  readonly kind: string;
  readonly error: unknown;
}

export interface Fuzzed {
  readonly runs: number;
  /** Inputs that each executed new code. */
  readonly corpus: readonly Uint8Array[];
  readonly findings: readonly Finding[];
}

/** Half of the parents are among the last inputs added to the corpus. */
const RECENT = 16;
/** The counters are read once per batch. If a batch executed new code, its inputs are run again one by one. */
const BATCH = 64;
/** Share of batches that are run again to find new execution counts, too. */
const COUNTED_SHARE = 1 / 64;

export async function fuzz(target: Target, options: FuzzOptions): Promise<Fuzzed> {
  const random = new Random(options.seed);
  const corpus: Uint8Array[] = [...target.seeds];
  const findings = new Findings(target, options);
  const batches = new Features({ byCount: false });
  const material: Material = {
    random,
    dictionary: target.dictionary.map((word) => Buffer.from(word)),
    other: () => random.pick(corpus),
  };
  const children = (): Uint8Array[] => {
    const parents = [corpus, corpus.slice(-RECENT)];
    return Array.from({ length: BATCH }, () => childOf(random.pick(random.pick(parents)), material, target));
  };

  let runs = 0;
  for (let batch = [...target.seeds]; goOn(batch); batch = children()) {
    for (const input of batch) await findings.run(input);
    const together = options.coverage?.take(batches);
    if (together === undefined) continue;
    const isToCount = random.chance(COUNTED_SHARE);
    if (!isToCount && !together.isNew && together.work <= target.maxWork) continue;
    const isSeeds = runs === batch.length;
    for (const input of batch) if ((await findings.runAlone(input)) && !isSeeds) corpus.push(input);
  }
  return { runs, corpus, findings: findings.all };

  function goOn(batch: readonly Uint8Array[]): boolean {
    if (!options.goesOn(runs)) return false;
    runs += batch.length;
    return true;
  }
}

function childOf(parent: Uint8Array, material: Material, { format, maxBytes }: Target): Uint8Array {
  let child: Uint8Array | undefined;
  if (format === 'json' && material.random.chance(0.8)) {
    child = mutateJson(parent, material);
    while (child !== undefined && material.random.chance(0.5)) child = mutateJson(child, material);
  }
  return child !== undefined && child.length <= maxBytes ? child : mutate(parent, material, maxBytes);
}

/** Runs the target, and keeps one failure of each kind. */
class Findings {
  readonly #target: Target;
  readonly #options: FuzzOptions;
  readonly #features = new Features({ byCount: true });
  readonly #found = new Map<string, Finding>();

  constructor(target: Target, options: FuzzOptions) {
    this.#target = target;
    this.#options = options;
  }

  get all(): readonly Finding[] {
    return [...this.#found.values()];
  }

  async run(input: Uint8Array): Promise<void> {
    const failure = await this.#failureOf(input);
    if (failure !== undefined) await this.#keep(failure);
  }

  /** Runs one input with its own counters, and returns whether it executed something new. */
  async runAlone(input: Uint8Array): Promise<boolean> {
    const { failure, isNew } = await this.#counted(input);
    if (failure !== undefined) await this.#keep(failure);
    return isNew && failure === undefined;
  }

  async #counted(input: Uint8Array): Promise<{ failure: Finding | undefined; isNew: boolean }> {
    const failure = await this.#failureOf(input);
    const { isNew, work } = this.#options.coverage?.take(this.#features) ?? { isNew: false, work: 0 };
    return { failure: failure ?? tooMuchWork(this.#target, input, work), isNew };
  }

  async #failureOf(input: Uint8Array): Promise<Finding | undefined> {
    try {
      const running = this.#target.run(input);
      if (running instanceof Promise) await running;
      return undefined;
    } catch (error) {
      return { input, kind: kindOf(error), error };
    }
  }

  async #keep(found: Finding): Promise<void> {
    if (this.#found.has(found.kind)) return;
    let smallest = found;
    await minimise(found.input, async (input) => {
      const { failure } = await this.#counted(input);
      if (failure?.kind !== found.kind) return false;
      smallest = failure;
      return true;
    });
    this.#found.set(found.kind, smallest);
    this.#options.onFinding?.(smallest);
  }
}

function tooMuchWork({ maxWork }: Target, input: Uint8Array, work: number): Finding | undefined {
  if (work <= maxWork) return undefined;
  const error = new Error(`${work} blocks were executed; the limit is ${maxWork}`);
  return { input, kind: 'too much work', error };
}

/** Returns the violated invariant, or the location of the throw, without values of the input. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [what = ''] = error.message.split('; found ');
  if (error.name === 'Violation') return what;
  const thrownAt = /\n\s+at (?!.*node:)(.*)/.exec(error.stack ?? '')?.[1] ?? '';
  return `${error.name} ${thrownAt.replace(/^(\S+) \(.*\/(.*)\)$/, '$1 $2')}`;
}
