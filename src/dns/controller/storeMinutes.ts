import type { Log } from '../../platform/logging/index.ts';
import type { MinuteRecord, QueryStatsStore } from '../analytics/index.ts';

/** Stores the query counts of a minute for analytics. If this fails, only the counts of this minute are lost. */
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
