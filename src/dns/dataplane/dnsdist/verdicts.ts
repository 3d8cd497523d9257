/** Counts the verdicts on UDP queries. Reads them from counters of dnsdist, because dnstap frames may be lost. */
import { failureReporter } from '../../../platform/background/index.ts';
import { outcomes, reasons, VERDICTS, verdictOf } from '../../detector/index.ts';
import type { DnsdistConsole } from './console.ts';
import { verdictName } from './rulesLoader.ts';

const verdicts = new Map(
  outcomes.flatMap((outcome) =>
    reasons.map((reason) => [verdictName(outcome, reason), verdictOf(outcome, reason)] as const),
  ),
);

/** Timeout for reading the counters of a node: one tick, because the next rules are sent only after the read. */
const TIMEOUT_MS = 1000;

/** Reads the counters of a node with `showRules`. Each line of its output has number, name and matches of a rule. */
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
 * Adds the verdicts of one node, from the first read on, to a total. If a counter has decreased, dnsdist was
 * restarted and has counted from zero.
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
    // The first read adds nothing, because its counts are from before the start of Floodgate.
    if (before === undefined) return;
    for (const [verdict, count] of counts.entries())
      this.#total[verdict] = (this.#total[verdict] ?? 0) + count - (isAnew ? 0 : (before[verdict] ?? 0));
  }
}

export class DnsdistVerdicts {
  /** Number of queries on all nodes, indexed by verdict, as of the last read. */
  readonly total = new Float64Array(VERDICTS);
  readonly #nodes: readonly { readonly console: DnsdistConsole; readonly verdicts: NodeVerdicts }[];
  #reading: Promise<void> | undefined;

  constructor(consoles: readonly DnsdistConsole[]) {
    this.#nodes = consoles.map((console) => ({ console, verdicts: new NodeVerdicts(this.total) }));
  }

  /** Adds what each node has counted since its last read. An unreachable node is read when it is reachable again. */
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
  // Errors are ignored here, because `DnsdistNode` reports an unreachable node when it sends the rules.
  const read = await readVerdicts(console).catch(() => undefined);
  if (read !== undefined) counts.note(read);
}
