/**
 * Known names that are asked for beyond their usual rate, as seen by dnstap: what sensitivity `very_high` refuses. dnsdist is
 * told of them by name, so all queries for such a name pay, for as long as it stays that busy and a minute more.
 */
import { nameToText } from '../../protocol/index.ts';

/** Each change sets dnsdist's rules anew: a name that is busy now and then shall not come and go. */
const HOLD_MS = 60_000;
/** More names than this at a time are no flood of single names; the bound is for the console's command, too. */
const MAX_NAMES = 256;

export class BusyNames {
  /** When each name was last beyond its usual rate, in milliseconds. */
  readonly #lastMs = new Map<string, number>();

  /** Notes a name in wire form. */
  note(wire: Uint8Array, nowMs: number): void {
    const name = nameToText(wire);
    if (this.#lastMs.has(name) || this.#lastMs.size < MAX_NAMES) this.#lastMs.set(name, nowMs);
  }

  /** The names, sorted. */
  names(nowMs: number): string[] {
    for (const [name, lastMs] of this.#lastMs) if (nowMs - lastMs > HOLD_MS) this.#lastMs.delete(name);
    return [...this.#lastMs.keys()].sort();
  }
}
