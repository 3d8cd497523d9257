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
import { Connections } from './connections.ts';
import { GroupCommit } from './groupCommit.ts';
import { migrate } from './migrations.ts';
import { PostgresRecords } from './records.ts';
import { PostgresRuleStore } from './ruleStore.ts';
import { statement } from './statement.ts';
import { PostgresTokenStore } from './tokenStore.ts';

export interface PostgresRulesOptions {
  /** As libpq has it: postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full. */
  readonly url: string;
  /** The clock that changes are stamped with; that of the database's machine unless a test needs another. */
  readonly now?: (() => Micros) | undefined;
  /** The fields that rules have. */
  readonly format?: RuleFormat;
  /** How long the outcome of a commit whose answer was lost is looked for. */
  readonly lookUpMs?: number;
}

export interface PostgresRulesDependencies {
  readonly log: Log;
  /** The clock by which tokens are believed; the process's unless a test needs another. */
  readonly monotonicMs?: () => number;
}

const TAKES_WRITES = `SELECT current_setting('transaction_read_only') = 'off' AS is_writable,
  greatest(0, moment - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS behind FROM floodgate.clock`;
/** A write that changes nothing, and needs what every write needs. */
const TRY_WRITE = 'UPDATE floodgate.clock SET moment = moment';
const CLOSE_TIMEOUT_MS = 3_000;
/** Clocks are set back by small steps all the time. */
const CLOCK_TOLERANCE_MICROS = 60_000_000;

/**
 * Opens the rules, tokens and audit kept in a PostgreSQL, and makes its tables where they are missing. Throws `BadStoreAddress`
 * where the URL is not as it should be, `StoreUnavailable` where the database cannot be reached or used.
 */
export async function openPostgresRules(
  { url, now, format = ruleFormat, lookUpMs }: PostgresRulesOptions,
  { log, monotonicMs = () => performance.now() }: PostgresRulesDependencies,
): Promise<RulesStorage> {
  const connections = new Connections(url, { log });
  const feed = new ChangeFeed({ connections, log, monotonicMs });
  const commits = new GroupCommit({ now, lookUpMs }, connections);
  const parts = { connections, commits, feed };
  const close = async (): Promise<void> => {
    await commits.idle();
    const closed = feed.close().then(() => connections.close());
    // Nobody may be there to say goodbye to.
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
    tokens: new PostgresTokenStore(parts),
    audit: new PostgresAuditLog(connections),
  };
  try {
    await migrate(connections);
    await feed.start();
    const behind = (await look())?.behind ?? 0;
    return {
      ...storage,
      isShared: true,
      shared,
      clockBehindSeconds: behind > CLOCK_TOLERANCE_MICROS ? Math.round(behind / 1_000_000) : 0,
      get staleSeconds() {
        return connections.isAway ? Math.round(feed.ageMs / 1000) : undefined;
      },
      async probe() {
        if (!(await look())?.is_writable)
          throw new StoreUnavailable('The rules database takes no writes: it is a standby, or set read-only');
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
