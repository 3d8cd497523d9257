/**
 * Known names that, as dnstap shows, are queried more often than usual. At sensitivity `very_high`, each query for
 * such a name needs a rate-limit token until one minute after the name last exceeded its usual rate.
 */
import { nameToText } from '../../protocol/index.ts';

/** Time that a name stays in the set. Without it, the set would change often, and each change replaces all rules. */
const HOLD_MS = 60_000;
/** Maximum number of names, to bound the size of the console command. A flood of single names uses fewer. */
const MAX_NAMES = 256;

export class BusyNames {
  readonly #lastMs = new Map<string, number>();

  /** Records that a name, given in wire form, exceeds its usual rate. */
  note(wire: Uint8Array, nowMs: number): void {
    const name = nameToText(wire);
    if (this.#lastMs.has(name) || this.#lastMs.size < MAX_NAMES) this.#lastMs.set(name, nowMs);
  }

  /** Returns the sorted names whose hold time has not expired. */
  names(nowMs: number): string[] {
    for (const [name, lastMs] of this.#lastMs) if (nowMs - lastMs > HOLD_MS) this.#lastMs.delete(name);
    return [...this.#lastMs.keys()].sort();
  }
}
