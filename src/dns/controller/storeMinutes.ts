import type { Log } from '../../platform/logging/index.ts';
import type { MinuteRecord, QueryStatsStore } from '../analytics/index.ts';

/** Stores what was counted in a minute. A store that fails costs that minute of analytics, and nothing else. */
export async function storeMinutes(
  records: readonly MinuteRecord[],
  { queryStatsStore, log }: { readonly queryStatsStore: QueryStatsStore | undefined; readonly log: Log },
): Promise<void> {
  try {
    await queryStatsStore?.append(records);
  } catch (error) {
    log.warn({ error: String(error) }, 'a minute of analytics could not be stored');
  }
}
