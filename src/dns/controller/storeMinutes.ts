import type { Log } from '../../platform/logging/index.ts';
import type { MinuteRecord, QueryStatsStore } from '../analytics/index.ts';

/** Stores the counts of a minute. A failure of the store loses only that minute's analytics. */
export async function storeMinutes(
  records: readonly MinuteRecord[],
  { queryStatsStore, log }: { readonly queryStatsStore: QueryStatsStore | undefined; readonly log: Log },
): Promise<void> {
  try {
    await queryStatsStore?.append(records);
  } catch (error) {
    log.warn({ error: String(error) }, 'cannot store a minute of analytics');
  }
}
