/** Counts verdicts on UDP queries from dnsdist's own counters, so that lost dnstap frames do not matter. */
import { failureReporter } from '../../../platform/background/index.ts';
import { outcomes, reasons, VERDICTS, verdictOf } from '../../detector/index.ts';
import type { DnsdistConsole } from './console.ts';
import { verdictName } from './rulesLoader.ts';

const verdicts = new Map(
  outcomes.flatMap((outcome) =>
    reasons.map((reason) => [verdictName(outcome, reason), verdictOf(outcome, reason)] as const),
  ),
);

/** Timeout for reading a node's counters: at most one tick, because the next rules are sent only after the read. */
const TIMEOUT_MS = 1000;

/** Parses the output of `showRules`: number, name, matches and text of one rule per line. */
async function readVerdicts(console: DnsdistConsole): Promise<Float64Array> {
  const counts = new Float64Array(VERDICTS);
  const table = await console.run('showRules({truncateRuleWidth=1})', TIMEOUT_MS);
  for (const line of table.split('\n')) {
    const [, name = '', matches = ''] = /^\d+\s+(\S+)\s+(\d+)/.exec(line) ?? [];
    const verdict = verdicts.get(name);
    if (verdict !== undefined) counts[verdict] = Number(matches);
  }
  return counts;
}

/**
 * Verdict counts of one node since the first read. If a counter decreased, dnsdist was restarted and counts from zero.
 */
class NodeVerdicts {
  readonly #total: Float64Array;
  #last: Float64Array | undefined;

  constructor(total: Float64Array) {
    this.#total = total;
  }

  note(counts: Float64Array): void {
    const before = this.#last;
    const isAnew = before?.some((count, verdict) => (counts[verdict] ?? 0) < count) ?? false;
    this.#last = counts;
    // The first read only sets the baseline, because its counts are from before Floodgate started.
    if (before === undefined) return;
    for (const [verdict, count] of counts.entries())
      this.#total[verdict] = (this.#total[verdict] ?? 0) + count - (isAnew ? 0 : (before[verdict] ?? 0));
  }
}

export class DnsdistVerdicts {
  /** Counts of all nodes together, indexed by verdict, as of the last read. */
  readonly total = new Float64Array(VERDICTS);
  readonly #nodes: readonly { readonly console: DnsdistConsole; readonly verdicts: NodeVerdicts }[];
  #reading: Promise<void> | undefined;

  constructor(consoles: readonly DnsdistConsole[]) {
    this.#nodes = consoles.map((console) => ({ console, verdicts: new NodeVerdicts(this.total) }));
  }

  /** Adds the counts since the last read. Those of an unreachable node are added when it is reachable again. */
  read(): Promise<void> {
    this.#reading ??= this.#readAll().catch(failureReporter('counters of dnsdist'));
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    try {
      await Promise.all(this.#nodes.map(readNode));
    } finally {
      this.#reading = undefined;
    }
  }
}

async function readNode({
  console,
  verdicts: counts,
}: {
  readonly console: DnsdistConsole;
  readonly verdicts: NodeVerdicts;
}): Promise<void> {
  if (!console.connected) return;
  // Errors are ignored here, because the rule update (node.ts) reports the failures of a node.
  const read = await readVerdicts(console).catch(() => undefined);
  if (read !== undefined) counts.note(read);
}
