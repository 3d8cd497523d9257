import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import { type RulesStorage, StoreUnavailable } from '../../rules/index.ts';
import { openRules } from '../../rules/store/index.ts';
import type { ServerContext } from '../base.ts';
import { registerRulesStoreMetrics } from '../health/serverMetrics.ts';
import { watchClock } from '../health/watchClock.ts';
import { rejectStoredToken } from './rejectStoredToken.ts';

/** Interval of the checks of the configured token while the database is away. */
const RETRY_MS = 1_000;

export interface OpenedRules {
  readonly storage: RulesStorage;
  close(): Promise<void>;
}

/** Opens the rules store with its metrics, and watches the system clock. Throws ConfigError for a stored token. */
export async function openRulesStorage(
  { dataDir, rules, dns, apiToken }: Config,
  { logger, registry, opened }: Pick<ServerContext, 'logger' | 'registry' | 'opened'>,
): Promise<OpenedRules> {
  const account = opened.has('guard') ? dns.account : undefined;
  const snapshots = { folder: dataDir, account, keepsKeys: opened.has('gateway') };
  const { store: url, storeListen: listenUrl } = rules;
  const storage = await openRules({ dataDir, url, listenUrl, snapshots }, { log: logger });
  registerRulesStoreMetrics(registry, storage);
  const stopWatching = watchClock(logger, storage.clockBehindSeconds);
  const closing = new AbortController();
  const close = async (): Promise<void> => {
    closing.abort();
    stopWatching();
    await storage.close();
  };
  try {
    await rejectStoredToken(apiToken, storage.tokens);
  } catch (error) {
    if (error instanceof StoreUnavailable) {
      inBackground('check of apiToken', () => checkLater(closing.signal));
      return { storage, close };
    }
    await close();
    throw error;
  }
  return { storage, close };

  /** Checks the configured token when the database is back. If it is a stored token, ends the server. */
  async function checkLater(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(RETRY_MS, undefined, { ref: false });
      try {
        return await rejectStoredToken(apiToken, storage.tokens);
      } catch (error) {
        if (error instanceof StoreUnavailable) continue;
        const reason = error instanceof Error ? error.message : String(error);
        logger.fatal({ reason }, 'stopping: apiToken is a stored token');
        process.kill(process.pid, 'SIGTERM');
        return;
      }
    }
  }
}
