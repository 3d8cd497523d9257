/** SQL statements of the fleet store. Each exported constant is one atomic statement with parameters $1, $2, … */

/** Returns the row that it overwrites: `before` reads the database as it was when the statement started. */
export const HEARTBEAT = `WITH before AS (SELECT run, report FROM floodgate.instances WHERE id = $1),
  written AS (INSERT INTO floodgate.instances (id, account, run, report, last_seen) VALUES ($1, $2, $3, $4, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET account = excluded.account, run = excluded.run, report = excluded.report,
      last_seen = excluded.last_seen)
  SELECT run, report FROM before`;

export const RESUME = `SELECT
  (SELECT max(minute) FROM floodgate.minutes WHERE instance = $1 AND account = $2) AS minute,
  (SELECT coalesce(min(started_ms) FILTER (WHERE is_active), max(started_ms))
    FROM floodgate.attacks WHERE instance = $1 AND account = $2) AS attacks_from`;

export const PUT_MINUTES = `INSERT INTO floodgate.minutes (account, instance, region, datacenter, rule, minute, record)
  SELECT $1, $2, $3, $4, * FROM unnest($5::text[], $6::bigint[], $7::json[])
  ON CONFLICT (account, rule, minute, instance) DO UPDATE
    SET region = excluded.region, datacenter = excluded.datacenter, record = excluded.record`;

export const PUT_ATTACKS = `INSERT INTO floodgate.attacks (account, instance, region, datacenter, id, started_ms, is_active, attack)
  SELECT $1, $2, $3, $4, * FROM unnest($5::text[], $6::bigint[], $7::boolean[], $8::json[])
  ON CONFLICT (account, id) DO UPDATE SET is_active = excluded.is_active, attack = excluded.attack`;

/** Maximum number of rows that one DELETE removes, so that other statements wait some milliseconds at most. */
const MAX_ROWS_PER_DELETE = 20_000;

export const FORGET_MINUTES = `DELETE FROM floodgate.minutes WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM floodgate.minutes WHERE minute <= $1 LIMIT ${MAX_ROWS_PER_DELETE}))`;

export const FORGET_ATTACKS = `DELETE FROM floodgate.attacks WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM floodgate.attacks WHERE started_ms < $1 LIMIT ${MAX_ROWS_PER_DELETE}))`;

export const FORGET_INSTANCES = `DELETE FROM floodgate.instances WHERE last_seen < clock_timestamp() - make_interval(days => $1)
  OR id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY account ORDER BY last_seen DESC) AS place
    FROM floodgate.instances) AS ranked WHERE place > $2)`;

export const INSTANCES = `SELECT id, report, last_seen, last_seen > clock_timestamp() - interval '30 seconds' AS is_up
  FROM floodgate.instances WHERE account = $1 ORDER BY last_seen DESC, id LIMIT $2`;

const AT_PLACE = (region: string, datacenter: string): string =>
  `(${region}::text IS NULL OR region = ${region}) AND (${datacenter}::text IS NULL OR datacenter = ${datacenter})`;

export const MINUTES = `SELECT instance, region, datacenter, record FROM floodgate.minutes
  WHERE account = $1 AND rule = $2 AND (minute, instance) > ($3::bigint, $4::text) AND minute < $5 AND ${AT_PLACE('$6', '$7')}
  ORDER BY minute, instance LIMIT $8`;

const ASKED_ATTACKS = `FROM floodgate.attacks
  WHERE account = $1 AND started_ms >= $2 AND started_ms < $3 AND ${AT_PLACE('$4', '$5')}`;

export const COUNT_ATTACKS = `SELECT count(*) AS total ${ASKED_ATTACKS}`;

export const ATTACKS = `SELECT instance, region, datacenter, attack ${ASKED_ATTACKS}
  ORDER BY started_ms DESC, id DESC OFFSET $6::bigint LIMIT $7`;

export const ATTACK =
  'SELECT instance, region, datacenter, attack FROM floodgate.attacks WHERE account = $1 AND id = $2';
