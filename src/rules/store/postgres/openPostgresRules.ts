import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../platform/logging/index.ts';
import {
  type Micros,
  type RuleFormat,
  type RulesStorage,
  recordStoresOf,
  ruleFormat,
  type SharedDatabase,
  StoreUnavailable,
} from '../../index.ts';
import { PostgresAuditLog } from './auditLog.ts';
import { ChangeFeed } from './changeFeed.ts';
import { CommitQueue } from './commitQueue.ts';
import { Connections } from './connection/connections.ts';
import { ConnectionFailed } from './connection/failures.ts';
import { statement } from './connection/statement.ts';
import { listEntriesIn, rulesIn, zonePoliciesIn } from './recordKinds.ts';
import { PostgresRecords } from './records.ts';
import { prepareSchema } from './schema.ts';
import { PostgresSessionStore } from './sessionStore.ts';
import { Snapshots, type SnapshotsOptions } from './snapshot/snapshots.ts';
import { PostgresTokenStore } from './tokenStore.ts';

export interface PostgresRulesOptions {
  /** URL of the database in libpq's format: postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full. */
  readonly url: string;
  /** Direct URL of the database for LISTEN, if `url` leads to a pooler in transaction mode. */
  readonly listenUrl?: string | undefined;
  /** Returns the current time, for the times of changes. Default: the clock of the database. */
  readonly now?: (() => Micros) | undefined;
  readonly format?: RuleFormat;
  /** Maximum time in milliseconds to find out whether a commit took effect if its response was lost. */
  readonly lookUpMs?: number;
  /** Snapshots with which the stores open while the database is away. Default: opening fails then. */
  readonly snapshots?: SnapshotsOptions | undefined;
}

export interface PostgresRulesDependencies {
  readonly log: Log;
  /** Monotonic clock in milliseconds that measures the age of cached data. Default: the clock of the process. */
  readonly monotonicMs?: () => number;
}

const TAKES_WRITES = `SELECT current_setting('transaction_read_only') = 'off' AS is_writable,
  greatest(0, moment - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS behind FROM floodgate.clock`;
/** Statement that changes nothing, but needs the same privileges and resources as any write. */
const TRY_WRITE = 'UPDATE floodgate.clock SET moment = moment';
const CLOSE_TIMEOUT_MS = 3_000;
/** A wall clock that is behind the last change by less is not reported, because wall clocks make small steps. */
const CLOCK_TOLERANCE_MICROS = 60_000_000;

/**
 * Opens the stores and creates missing tables. Throws `StoreUnavailable`, and `BadStoreAddress` for a bad URL. If the
 * database is away and `snapshots` is set, opens the stores with the last known data instead of throwing; a guard
 * without such data waits for the database.
 */
export async function openPostgresRules(
  { url, listenUrl, now, format = ruleFormat, lookUpMs, snapshots: kept }: PostgresRulesOptions,
  { log, monotonicMs = () => performance.now() }: PostgresRulesDependencies,
): Promise<RulesStorage> {
  const connections = new Connections(url, { log }, listenUrl);
  const feed = new ChangeFeed({ connections, log, monotonicMs, prepare: () => prepareSchema(connections) });
  const commits = new CommitQueue({ now, lookUpMs }, connections);
  const parts = { connections, commits, feed };
  const close = async (): Promise<void> => {
    await commits.idle();
    await snapshots?.close();
    const closed = feed.close().then(() => connections.close());
    // Closing has a time limit, because an unreachable database does not respond.
    await Promise.race([closed, pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  };
  const look = async (): Promise<{ is_writable: boolean; behind: Micros } | undefined> =>
    (await connections.read(statement<{ is_writable: boolean; behind: Micros }>(TAKES_WRITES)))[0];
  const keys = new PostgresRecords(parts);
  const shared: SharedDatabase = {
    keys,
    query: (sql, parameters) => connections.read(statement(sql, parameters)),
  };
  const records = {
    rules: rulesIn(parts, format),
    lists: listEntriesIn(parts),
    zonePolicies: zonePoliciesIn(parts),
  };
  const storage = {
    ...recordStoresOf(records),
    tokens: new PostgresTokenStore(parts),
    sessions: new PostgresSessionStore(parts),
    audit: new PostgresAuditLog(parts),
  };
  const collections = [records.rules, records.lists, records.zonePolicies].map(
    ({ collection }) => collection,
  );
  const snapshots = kept && new Snapshots(kept, { database: connections.database, feed, collections, log });
  if (snapshots) keys.keep = (state) => snapshots.keepKeys(state);
  try {
    await feed
      .start()
      .catch((error: unknown) => startAway(error, { snapshots, connections, feed, keys, log }));
    snapshots?.start();
    const behind = connections.isUnreachable ? 0 : ((await look())?.behind ?? 0);
    return {
      ...storage,
      isShared: true,
      shared,
      clockBehindSeconds: behind > CLOCK_TOLERANCE_MICROS ? Math.round(behind / 1_000_000) : 0,
      get staleSeconds() {
        return connections.isUnreachable ? Math.round(feed.ageMs / 1000) : undefined;
      },
      async probe() {
        if (!(await look())?.is_writable)
          throw new StoreUnavailable('The rules database is not writable: it is a standby, or set read-only');
        if (!commits.hasFailed) return;
        await connections.borrow((connection) => connection.command(TRY_WRITE));
        commits.noteWritable();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface AwayDependencies {
  readonly snapshots: Snapshots | undefined;
  readonly connections: Connections;
  readonly feed: ChangeFeed;
  readonly keys: PostgresRecords;
  readonly log: Log;
}

/** Continues a start that failed because the database is away. Throws the error if the start must fail. */
async function startAway(
  error: unknown,
  { snapshots, connections, feed, keys, log }: AwayDependencies,
): Promise<void> {
  if (snapshots === undefined || !(error instanceof ConnectionFailed)) throw error;
  const known = snapshots.restoredKeys();
  if (known !== undefined) keys.restore(known);
  connections.markUnreachable(error);
  const hasRules = snapshots.restoreRules();
  if (error.isMisconfigured && known === undefined && hasRules !== true) throw error;
  if (hasRules !== false) return feed.startAway();
  log.error({}, 'waiting for the rules database: there is no snapshot of the rules');
  await feed.startLater();
}
