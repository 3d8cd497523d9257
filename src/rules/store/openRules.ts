import type { Log } from '../../platform/logging/index.ts';
import { BadStoreAddress, type RulesStorage, type StoreDump } from '../index.ts';
import type { PostgresRulesOptions } from './postgres/index.ts';

export interface OpenRulesOptions {
  readonly dataDir: string;
  /** URL of a PostgreSQL database that several instances share. Default: a store in the data folder. */
  readonly url: string | undefined;
  /** Direct URL of the database for LISTEN, if `url` leads to a pooler. */
  readonly listenUrl?: string | undefined;
  /** Snapshots with which a server opens the database while it is away. Default: opening fails then. */
  readonly snapshots?: PostgresRulesOptions['snapshots'];
}

/** Opens the configured store, and loads only the module it needs. Throws `StoreUnavailable`, `BadStoreAddress`. */
export async function openRules(
  { dataDir, url, listenUrl, snapshots }: OpenRulesOptions,
  { log }: { readonly log: Log },
): Promise<RulesStorage> {
  if (url === undefined) return (await import('./lmdb/index.ts')).openRulesStorage(dataDir);
  const { openPostgresRules } = await import('./postgres/index.ts');
  try {
    return await openPostgresRules({ url, listenUrl, snapshots }, { log });
  } catch (error) {
    if (!(error instanceof BadStoreAddress)) throw error;
    throw new BadStoreAddress(`rules.store (FLOODGATE_RULES_STORE, --rules-store): ${error.message}`);
  }
}

/** Returns the rules store in the database at a URL, as source or target of a copy. Throws `BadStoreAddress`. */
export async function databaseDump(url: string, { log }: { readonly log: Log }): Promise<StoreDump> {
  return (await import('./postgres/index.ts')).rulesDump(url, { log });
}
