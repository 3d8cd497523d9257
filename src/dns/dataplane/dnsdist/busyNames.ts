/**
 * Known names whose queries, received through dnstap, exceed the usual rate of the name. At sensitivity `very_high`,
 * each query for such a name needs a token until one minute after the name last exceeded its usual rate.
 */
import { nameToText } from '../../protocol/index.ts';

/**
 * Time that a name stays in the set. If it were short, the set would change often, and each change replaces all
 * rules.
 */
const HOLD_MS = 60_000;
/** Maximum number of names, because all of them are in one console command. A flood for known names uses fewer. */
const MAX_NAMES = 256;

export class BusyNames {
  readonly #lastMs = new Map<string, number>();

  /** Records that a name, given in wire form, exceeds its usual rate. */
  note(wire: Uint8Array, nowMs: number): void {
    const name = nameToText(wire);
    if (this.#lastMs.has(name) || this.#lastMs.size < MAX_NAMES) this.#lastMs.set(name, nowMs);
  }

  /** Returns the names that exceeded their usual rate within the hold time, sorted. */
  names(nowMs: number): string[] {
    for (const [name, lastMs] of this.#lastMs) if (nowMs - lastMs > HOLD_MS) this.#lastMs.delete(name);
    return [...this.#lastMs.keys()].sort();
  }
}
