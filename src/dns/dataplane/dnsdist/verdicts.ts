/** What dnsdist did with every query over UDP, by its own counters, which no frame of dnstap that was left out changes. */
import { outcomes, reasons, VERDICTS, verdictOf } from '../../detector/index.ts';
import type { DnsdistConsole } from './console.ts';
import { verdictName } from './rulesLoader.ts';

const verdicts = new Map(
  outcomes.flatMap((outcome) =>
    reasons.map((reason) => [verdictName(outcome, reason), verdictOf(outcome, reason)] as const),
  ),
);

/** Shorter than a second's turn: the rules wait behind it. */
const TIMEOUT_MS = 1000;

/** `showRules` prints a line a rule: its number, name, matches, and what it says. */
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

/** The counts of one node since this run first heard of them, also where dnsdist is started anew and begins at zero. */
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
    // What was counted before this run is another run's.
    if (before === undefined) return;
    for (const [verdict, count] of counts.entries())
      this.#total[verdict] = (this.#total[verdict] ?? 0) + count - (isAnew ? 0 : (before[verdict] ?? 0));
  }
}

export class DnsdistVerdicts {
  /** Over all nodes, by the verdict's number, as they were when they were read last. */
  readonly total = new Float64Array(VERDICTS);
  readonly #nodes: readonly { readonly console: DnsdistConsole; readonly verdicts: NodeVerdicts }[];
  #reading: Promise<void> | undefined;

  constructor(consoles: readonly DnsdistConsole[]) {
    this.#nodes = consoles.map((console) => ({ console, verdicts: new NodeVerdicts(this.total) }));
  }

  /** Reads the counters of all nodes now. One that is away is counted when it is back. */
  read(): Promise<void> {
    this.#reading ??= Promise.all(this.#nodes.map(readNode)).then(() => {
      this.#reading = undefined;
    });
    return this.#reading;
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
  // A node that fails here is reported where it is told of the rules.
  const read = await readVerdicts(console).catch(() => undefined);
  if (read !== undefined) counts.note(read);
}
