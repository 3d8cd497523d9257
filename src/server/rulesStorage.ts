import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import type { RulesStorage } from '../rules/index.ts';
import { openRules } from '../rules/store/index.ts';
import { refuseStoredToken } from './refuseStoredToken.ts';
import { showRulesStore } from './serverMetrics.ts';
import { watchClock } from './watchClock.ts';

export interface OpenedRules {
  readonly storage: RulesStorage;
  close(): Promise<void>;
}

/** Opens the store of rules, tells of it, and watches the clock that it goes by. Throws ConfigError. */
export async function openRulesStorage(
  { dataDir, rules, apiToken }: Config,
  { logger, registry }: { readonly logger: Logger; readonly registry: Registry },
): Promise<OpenedRules> {
  const storage = await openRules({ dataDir, url: rules.store }, { log: logger });
  showRulesStore(registry, storage);
  const stopWatching = watchClock(logger, storage.clockBehindSeconds);
  const close = async (): Promise<void> => {
    stopWatching();
    await storage.close();
  };
  try {
    await refuseStoredToken(apiToken, storage.tokens);
  } catch (error) {
    await close();
    throw error;
  }
  return { storage, close };
}
