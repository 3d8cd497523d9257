import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import type { RulesStorage } from '../../rules/index.ts';
import { openRules } from '../../rules/store/index.ts';
import { registerRulesStoreMetrics } from '../health/serverMetrics.ts';
import { watchClock } from '../health/watchClock.ts';
import { rejectStoredToken } from './rejectStoredToken.ts';

export interface OpenedRules {
  readonly storage: RulesStorage;
  close(): Promise<void>;
}

/** Opens the rules store with its metrics, and watches the system clock. Throws ConfigError for a stored token. */
export async function openRulesStorage(
  { dataDir, rules, apiToken }: Config,
  { logger, registry }: { readonly logger: Logger; readonly registry: Registry },
): Promise<OpenedRules> {
  const storage = await openRules({ dataDir, url: rules.store }, { log: logger });
  registerRulesStoreMetrics(registry, storage);
  const stopWatching = watchClock(logger, storage.clockBehindSeconds);
  const close = async (): Promise<void> => {
    stopWatching();
    await storage.close();
  };
  try {
    await rejectStoredToken(apiToken, storage.tokens);
  } catch (error) {
    await close();
    throw error;
  }
  return { storage, close };
}
