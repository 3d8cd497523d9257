import type { Log } from '../../platform/logging/index.ts';
import { BadStoreAddress, type RulesStorage, type WholeStore } from '../index.ts';

export interface OpenRulesOptions {
  readonly dataDir: string;
  /** A PostgreSQL, which instances share; left out, the store is in the data folder. */
  readonly url: string | undefined;
}

/**
 * Opens the store of rules that is configured, and loads no other. Throws `StoreUnavailable` where it cannot be used, `BadStoreAddress`
 * where the URL is none.
 */
export async function openRules(
  { dataDir, url }: OpenRulesOptions,
  { log }: { readonly log: Log },
): Promise<RulesStorage> {
  if (url === undefined) return (await import('./lmdb/index.ts')).openRulesStorage(dataDir);
  const { openPostgresRules } = await import('./postgres/index.ts');
  try {
    return await openPostgresRules({ url }, { log });
  } catch (error) {
    if (!(error instanceof BadStoreAddress)) throw error;
    throw new BadStoreAddress(`rules.store (FLOODGATE_RULES_STORE, --rules-store): ${error.message}`);
  }
}

/** Opens a store in a PostgreSQL as a whole, for copying it. Throws `StoreUnavailable`, `BadStoreAddress`. */
export async function openWholeDatabase(url: string, { log }: { readonly log: Log }): Promise<WholeStore> {
  return (await import('./postgres/index.ts')).openWholeRules(url, { log });
}
