import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../platform/logging/index.ts';
import {
  type Micros,
  type RuleFormat,
  type RulesStorage,
  ruleFormat,
  type SharedDatabase,
  StoreUnavailable,
} from '../../index.ts';
import { PostgresAccessListStore } from './accessListStore.ts';
import { PostgresAuditLog } from './auditLog.ts';
import { ChangeFeed } from './changeFeed.ts';
import { CommitQueue } from './commitQueue.ts';
import { Connections } from './connection/connections.ts';
import { statement } from './connection/statement.ts';
import { PostgresRecords } from './records.ts';
import { PostgresRuleStore } from './ruleStore.ts';
import { prepareSchema } from './schema.ts';
import { PostgresSessionStore } from './sessionStore.ts';
import { PostgresTokenStore } from './tokenStore.ts';
import { PostgresZonePolicyStore } from './zonePolicyStore.ts';

export interface PostgresRulesOptions {
  /** URL of the database in libpq's format: postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full. */
  readonly url: string;
  /** Returns the current time, for the times of changes. Default: the clock of the database. */
  readonly now?: (() => Micros) | undefined;
  readonly format?: RuleFormat;
  /** Maximum time in milliseconds to find out whether a commit took effect if its response was lost. */
  readonly lookUpMs?: number;
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

/** Opens the stores and creates missing tables. Throws `StoreUnavailable`, and `BadStoreAddress` for a bad URL. */
export async function openPostgresRules(
  { url, now, format = ruleFormat, lookUpMs }: PostgresRulesOptions,
  { log, monotonicMs = () => performance.now() }: PostgresRulesDependencies,
): Promise<RulesStorage> {
  const connections = new Connections(url, { log });
  const feed = new ChangeFeed({ connections, log, monotonicMs });
  const commits = new CommitQueue({ now, lookUpMs }, connections);
  const parts = { connections, commits, feed };
  const close = async (): Promise<void> => {
    await commits.idle();
    const closed = feed.close().then(() => connections.close());
    // Closing has a time limit, because an unreachable database does not respond.
    await Promise.race([closed, pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  };
  const look = async (): Promise<{ is_writable: boolean; behind: Micros } | undefined> =>
    (await connections.read(statement<{ is_writable: boolean; behind: Micros }>(TAKES_WRITES)))[0];
  const shared: SharedDatabase = {
    keys: new PostgresRecords(parts),
    query: (sql, parameters) => connections.read(statement(sql, parameters)),
  };
  const storage = {
    rules: new PostgresRuleStore(format, parts),
    lists: new PostgresAccessListStore(parts),
    zonePolicies: new PostgresZonePolicyStore(parts),
    tokens: new PostgresTokenStore(parts),
    sessions: new PostgresSessionStore(parts),
    audit: new PostgresAuditLog(parts),
  };
  try {
    await prepareSchema(connections);
    await feed.start();
    const behind = (await look())?.behind ?? 0;
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
