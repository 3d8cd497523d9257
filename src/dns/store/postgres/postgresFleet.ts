import type { Place, SharedDatabase } from '../../../rules/index.ts';
import {
  InvalidAnalyticsQuery,
  KEPT_MINUTES,
  type MinuteRecord,
  type MinutesQuery,
  type PlacedMinute,
} from '../../analytics/index.ts';
import { type Attack, KEPT_DAYS } from '../../attacks/index.ts';
import {
  type AttackPlaceQuery,
  type FleetStore,
  INSTANCE_KEPT_DAYS,
  type Instance,
  type InstanceTold,
  MAX_INSTANCES,
  MAX_MINUTES_READ,
  type PlacedAttack,
  type ResumeFrom,
  type Self,
} from '../../fleet/index.ts';
import * as sql from './statements.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Between two reads others have their turn: some milliseconds of work each. */
const MINUTES_PER_READ = 1_000;

/** The database of the rules keeps it; `src/rules/store/postgres/migrations.ts` makes its tables. */
export class PostgresFleet implements FleetStore {
  readonly #database: Pick<SharedDatabase, 'query'>;

  constructor(database: Pick<SharedDatabase, 'query'>) {
    this.#database = database;
  }

  async seen({ id, run, account, place }: Self, told: InstanceTold) {
    const text = JSON.stringify({ ...place, ...told });
    const [before] = await this.#database.query<{ run: string; told: InstanceTold }>(sql.SEEN, [
      ...[id, account, run, text],
    ]);
    return before && { run: before.run, startedOn: before.told.started_on };
  }

  async resumeFrom({ id, account }: Self): Promise<ResumeFrom> {
    const [row] = await this.#database.query<{ minute: number | null; attacks_from: number | null }>(
      sql.RESUME,
      [id, account],
    );
    return { minute: row?.minute ?? undefined, attacksFromMs: row?.attacks_from ?? undefined };
  }

  async putMinutes({ id, account, place }: Self, records: readonly MinuteRecord[]): Promise<void> {
    await this.#database.query(sql.PUT_MINUTES, [
      ...[account, id, ...columnsOf(place)],
      records.map(({ ruleId }) => ruleId),
      records.map(({ minute }) => minute),
      records.map((record) => JSON.stringify(record)),
    ]);
  }

  async putAttacks({ id, account, place }: Self, attacks: readonly Attack[]): Promise<void> {
    await this.#database.query(sql.PUT_ATTACKS, [
      ...[account, id, ...columnsOf(place)],
      attacks.map((attack) => attack.id),
      attacks.map(({ started_on }) => Date.parse(started_on)),
      attacks.map(({ state }) => state === 'active'),
      attacks.map((attack) => JSON.stringify(attack)),
    ]);
  }

  async forget(nowMs: number): Promise<void> {
    await this.#database.query(sql.FORGET_MINUTES, [Math.floor(nowMs / MINUTE_MS) - KEPT_MINUTES]);
    await this.#database.query(sql.FORGET_ATTACKS, [nowMs - KEPT_DAYS * DAY_MS]);
    await this.#database.query(sql.FORGET_INSTANCES, [INSTANCE_KEPT_DAYS, MAX_INSTANCES]);
  }

  async instances(account: string): Promise<Instance[]> {
    const rows = await this.#database.query<InstanceRow>(sql.INSTANCES, [account, MAX_INSTANCES]);
    return rows.map(({ id, told, last_seen, is_up }) => {
      const { region, datacenter, version, data_plane, started_on, rule, rule_since } = told;
      return {
        ...{ id, ...placeOf({ region, datacenter }), version, data_plane, started_on },
        ...(rule && { rule }),
        ...{ rule_since, last_seen_on: last_seen.toISOString(), is_up },
      };
    });
  }

  async *minutes(query: MinutesQuery): AsyncGenerator<PlacedMinute> {
    const { account, ruleId, fromMinute, toMinute, region, datacenter } = query;
    let [minute, instance] = [fromMinute, ''];
    for (let read = 0; ; read += MINUTES_PER_READ) {
      if (read >= MAX_MINUTES_READ)
        throw new InvalidAnalyticsQuery(
          'since',
          `since to until has more than ${MAX_MINUTES_READ} minutes of all guards; ask for a shorter span, or for a region or datacenter`,
        );
      const rows = await this.#database.query<MinuteRow>(sql.MINUTES, [
        ...[account, ruleId, minute, instance, toMinute, region ?? null, datacenter ?? null],
        MINUTES_PER_READ,
      ]);
      for (const row of rows) yield { place: placeOf(row), instance: row.instance, record: row.record };
      const last = rows.at(-1);
      if (last === undefined || rows.length < MINUTES_PER_READ) return;
      [minute, instance] = [last.record.minute, last.instance];
    }
  }

  async attacks({ account, sinceMs, untilMs, page, perPage, region, datacenter }: AttackPlaceQuery) {
    const asked = [
      ...[account, sinceMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER, region ?? null, datacenter ?? null],
    ];
    const first = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
    const [count] = await this.#database.query<{ total: number }>(sql.COUNT_ATTACKS, asked);
    const rows = await this.#database.query<AttackRow>(sql.ATTACKS, [...asked, first, perPage]);
    return { result: rows.map(placedAttack), total: count?.total ?? 0 };
  }

  async attack(account: string, id: string): Promise<PlacedAttack | undefined> {
    const [row] = await this.#database.query<AttackRow>(sql.ATTACK, [account, id]);
    return row && placedAttack(row);
  }
}

interface InstanceRow {
  readonly id: string;
  readonly told: InstanceTold & Place;
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

/** Empty for none: a column of a place is never null. */
const columnsOf = ({ region = '', datacenter = '' }: Place): [string, string] => [region, datacenter];

const placeOf = ({ region, datacenter }: PlaceColumns): Place => ({
  ...(region && { region }),
  ...(datacenter && { datacenter }),
});

const placedAttack = (row: AttackRow): PlacedAttack => ({
  attack: row.attack,
  place: placeOf(row),
  instance: row.instance,
});
