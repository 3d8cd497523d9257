import type { Config } from '../../config/index.ts';
import { openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import { type DamagedPart, IndexUnavailableError, type TraceReader } from '../../ethereum/traces/index.ts';
import { indexFolder } from './indexFolder.ts';
import { openSharedUrl } from './openIndex.ts';

/** A worker's read access to the trace index of a network. The first process writes the index. */
export interface FollowedIndex {
  readonly reader: TraceReader;
  /** Makes later reads of the data folder see everything that was committed until now. */
  refresh(): void;
  close(): Promise<void>;
}

export async function followIndex(
  name: string,
  { dataDir, index, traceStore }: Pick<Config, 'dataDir' | 'index' | 'traceStore'>,
  onDamage: (part: DamagedPart) => void,
): Promise<FollowedIndex> {
  const local = openTraceReader(indexFolder(dataDir, name), { ...index, onDamage });
  loadRecent(local);
  if (traceStore === undefined)
    return { reader: local, refresh: () => local.refresh(), close: () => local.close() };
  const traces = await openSharedUrl(traceStore);
  const { CombinedTraceReader } = await import('../../ethereum/store/shared/index.ts');
  const reader = new CombinedTraceReader({ local, shared: (chain) => traces.reader(chain) });
  return {
    reader,
    refresh: () => local.refresh(),
    async close() {
      await local.close();
      await traces.close();
    },
  };
}

/** Loads the postings of recent blocks, at most 262,144 in 0.2 s, which the first request would load otherwise. */
function loadRecent(local: ReturnType<typeof openTraceReader>): void {
  try {
    local.loadRecent();
  } catch (error) {
    // Reads of clients report the damage.
    if (!(error instanceof IndexUnavailableError)) throw error;
  }
}
