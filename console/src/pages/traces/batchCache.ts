import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useNetwork } from './traceUrl.ts';

/** When a cache has more values, it is emptied. */
const MAX_KEPT = 5_000;

/** Cache of values of the shown network, which are read in batches when a component needs them. */
export function batchCache<Key extends string | number, Value>(
  batchSize: number,
  readBatch: (network: string, keys: readonly Key[], abort: AbortSignal) => Promise<readonly Value[]>,
) {
  const values = signal<ReadonlyMap<string, Value>>(new Map());
  const nameOf = (network: string, key: Key): string => `${network} ${key}`;
  const read = async (network: string, keys: readonly Key[], abort: AbortSignal): Promise<void> => {
    const unknown = [...new Set(keys)].filter((key) => !values.peek().has(nameOf(network, key)));
    for (let i = 0; i < unknown.length && !abort.aborted; i += batchSize) {
      const batch = unknown.slice(i, i + batchSize);
      const found = await readBatch(network, batch, abort);
      if (abort.aborted) return;
      const kept = values.peek().size > MAX_KEPT ? [] : values.peek();
      values.value = new Map([
        ...kept,
        ...found.map((value, at) => [nameOf(network, batch[at] as Key), value] as const), // one value for each key
      ]);
    }
  };
  return {
    /** Returns a value; undefined until it is read. */
    get: (network: string, key: Key): Value | undefined => values.value.get(nameOf(network, key)),
    useValues(keys: readonly Key[]): void {
      const network = useNetwork();
      useEffect(() => {
        const abort = new AbortController();
        void read(network, keys, abort.signal);
        return () => abort.abort();
      }, [network, keys.join()]);
    },
  };
}
