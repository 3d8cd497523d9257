import type { Entry } from './run.ts';

interface MergedEntry extends Entry {
  readonly parts: Uint8Array[];
}

/** Entries by their addresses, put together from several runs. */
export class MergedEntries {
  readonly entries: MergedEntry[] = [];
  /** The entries of a hash: more than one where addresses have the same. */
  readonly #byHash = new Map<number, MergedEntry[]>();

  add(hash: number, address: Uint8Array, parts: Uint8Array): void {
    const same = this.#byHash.get(hash);
    const known = same?.find((entry) => isSame(entry.address, address));
    if (known !== undefined) {
      known.parts.push(parts);
      return;
    }
    const entry = { address, parts: [parts] };
    this.entries.push(entry);
    if (same === undefined) this.#byHash.set(hash, [entry]);
    else same.push(entry);
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
