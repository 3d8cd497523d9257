import type { GuardLocation, SharedDatabase } from '../../../rules/index.ts';
import {
  type GuardMinute,
  InvalidAnalyticsQuery,
  type MinuteRecord,
  type MinutesQuery,
  RETENTION_MINUTES,
} from '../../analytics/index.ts';
import { type Attack, RETENTION_DAYS } from '../../attacks/index.ts';
import {
  type FleetAttackQuery,
  type FleetStore,
  type GuardAttack,
  INSTANCE_KEPT_DAYS,
  type Instance,
  type InstanceReport,
  MAX_INSTANCES,
  MAX_MINUTES_READ,
  type MemberIdentity,
  type ReportCursor,
} from '../../fleet/index.ts';
import * as sql from './statements.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Number of minute records per query. Reading them takes some milliseconds. Then the event loop runs other tasks. */
const MINUTES_PER_READ = 1_000;

/** Fleet store in the PostgreSQL database of the rules. `src/rules/store/postgres/schema.ts` creates its tables. */
export class PostgresFleet implements FleetStore {
  readonly #database: Pick<SharedDatabase, 'query'>;

  constructor(database: Pick<SharedDatabase, 'query'>) {
    this.#database = database;
  }

  async heartbeat({ id, run, account, place }: MemberIdentity, report: InstanceReport) {
    const text = JSON.stringify({ ...place, ...report });
    const [before] = await this.#database.query<{ run: string; report: InstanceReport }>(sql.HEARTBEAT, [
      id,
      account,
      run,
      text,
    ]);
    return before && { run: before.run, startedOn: before.report.started_on };
  }

  async resumeFrom({ id, account }: MemberIdentity): Promise<ReportCursor> {
    const [row] = await this.#database.query<{ minute: number | null; attacks_from: number | null }>(
      sql.RESUME,
      [id, account],
    );
    return { minute: row?.minute ?? undefined, attacksFromMs: row?.attacks_from ?? undefined };
  }

  async putMinutes({ id, account, place }: MemberIdentity, records: readonly MinuteRecord[]): Promise<void> {
    await this.#database.query(sql.PUT_MINUTES, [
      account,
      id,
      ...columnsOf(place),
      records.map(({ ruleId }) => ruleId),
      records.map(({ minute }) => minute),
      records.map((record) => JSON.stringify(record)),
    ]);
  }

  async putAttacks({ id, account, place }: MemberIdentity, attacks: readonly Attack[]): Promise<void> {
    await this.#database.query(sql.PUT_ATTACKS, [
      account,
      id,
      ...columnsOf(place),
      attacks.map((attack) => attack.id),
      attacks.map(({ started_on }) => Date.parse(started_on)),
      attacks.map(({ state }) => state === 'active'),
      attacks.map((attack) => JSON.stringify(attack)),
    ]);
  }

  async deleteExpired(nowMs: number): Promise<void> {
    await this.#database.query(sql.FORGET_MINUTES, [Math.floor(nowMs / MINUTE_MS) - RETENTION_MINUTES]);
    await this.#database.query(sql.FORGET_ATTACKS, [nowMs - RETENTION_DAYS * DAY_MS]);
    await this.#database.query(sql.FORGET_INSTANCES, [INSTANCE_KEPT_DAYS, MAX_INSTANCES]);
  }

  async instances(account: string): Promise<Instance[]> {
    const rows = await this.#database.query<InstanceRow>(sql.INSTANCES, [account, MAX_INSTANCES]);
    return rows.map(({ id, report, last_seen, is_up }) => {
      const { region, datacenter, version, data_plane, started_on, rule, rule_since } = report;
      return {
        id,
        ...placeOf({ region, datacenter }),
        version,
        data_plane,
        started_on,
        ...(rule && { rule }),
        rule_since,
        last_seen_on: last_seen.toISOString(),
        is_up,
      };
    });
  }

  async *minutes(query: MinutesQuery): AsyncGenerator<GuardMinute> {
    const { account, ruleId, fromMinute, toMinute, region, datacenter } = query;
    let [minute, instance] = [fromMinute, ''];
    for (let read = 0; ; read += MINUTES_PER_READ) {
      if (read >= MAX_MINUTES_READ)
        throw new InvalidAnalyticsQuery(
          'since',
          `since to until covers more than ${MAX_MINUTES_READ} minutes of all guards: use a shorter span, or set region or datacenter`,
        );
      const rows = await this.#database.query<MinuteRow>(sql.MINUTES, [
        account,
        ruleId,
        minute,
        instance,
        toMinute,
        region ?? null,
        datacenter ?? null,
        MINUTES_PER_READ,
      ]);
      for (const row of rows) yield { place: placeOf(row), instance: row.instance, record: row.record };
      const last = rows.at(-1);
      if (last === undefined || rows.length < MINUTES_PER_READ) return;
      [minute, instance] = [last.record.minute, last.instance];
    }
  }

  async attacks({ account, sinceMs, untilMs, page, perPage, region, datacenter }: FleetAttackQuery) {
    const asked = [
      account,
      sinceMs ?? 0,
      untilMs ?? Number.MAX_SAFE_INTEGER,
      region ?? null,
      datacenter ?? null,
    ];
    const first = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
    const [count] = await this.#database.query<{ total: number }>(sql.COUNT_ATTACKS, asked);
    const rows = await this.#database.query<AttackRow>(sql.ATTACKS, [...asked, first, perPage]);
    return { result: rows.map(placedAttack), total: count?.total ?? 0 };
  }

  async attack(account: string, id: string): Promise<GuardAttack | undefined> {
    const [row] = await this.#database.query<AttackRow>(sql.ATTACK, [account, id]);
    return row && placedAttack(row);
  }
}

interface InstanceRow {
  readonly id: string;
  readonly report: InstanceReport & GuardLocation;
  readonly last_seen: Date;
  readonly is_up: boolean;
}

interface PlaceColumns {
  readonly region?: string | undefined;
  readonly datacenter?: string | undefined;
}

interface MinuteRow extends PlaceColumns {
  readonly instance: string;
  readonly record: MinuteRecord;
}

interface AttackRow extends PlaceColumns {
  readonly instance: string;
  readonly attack: Attack;
}

/** Returns the values of the location columns. The columns are NOT NULL, so an empty string means undefined. */
const columnsOf = ({ region = '', datacenter = '' }: GuardLocation): [string, string] => [region, datacenter];

const placeOf = ({ region, datacenter }: PlaceColumns): GuardLocation => ({
  ...(region && { region }),
  ...(datacenter && { datacenter }),
});

const placedAttack = (row: AttackRow): GuardAttack => ({
  attack: row.attack,
  place: placeOf(row),
  instance: row.instance,
});
