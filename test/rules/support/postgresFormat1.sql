-- A database as the release with format 1 left it. It is of the past: nothing here is ever changed.
CREATE SCHEMA floodgate;
CREATE TABLE floodgate.format (version integer NOT NULL, oldest_user integer NOT NULL);
INSERT INTO floodgate.format VALUES (1, 1);
CREATE TABLE floodgate.clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  moment bigint NOT NULL, tokens_changed_at bigint NOT NULL, behind_since bigint);
INSERT INTO floodgate.clock (moment, tokens_changed_at) VALUES (0, 0);
CREATE TABLE floodgate.accounts (
  account text COLLATE "C" PRIMARY KEY,
  rules_changed_at bigint NOT NULL DEFAULT 0, lists_changed_at bigint NOT NULL DEFAULT 0);
CREATE INDEX ON floodgate.accounts (rules_changed_at);
CREATE INDEX ON floodgate.accounts (lists_changed_at);
CREATE TABLE floodgate.rules (
  account text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL,
  created_on text COLLATE "C" NOT NULL, rule json NOT NULL, PRIMARY KEY (account, id));
CREATE INDEX ON floodgate.rules (account, target);
CREATE TABLE floodgate.list_entries (
  account text COLLATE "C" NOT NULL, list text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
  created_on text COLLATE "C" NOT NULL, entry json NOT NULL, PRIMARY KEY (account, list, id));
CREATE TABLE floodgate.tokens (
  hash text COLLATE "C" PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
  created_on text COLLATE "C" NOT NULL, token json NOT NULL);
CREATE TABLE floodgate.audit (
  at bigint PRIMARY KEY, account text COLLATE "C", rule text COLLATE "C", entry json NOT NULL);
CREATE INDEX ON floodgate.audit (account, at);
CREATE INDEX ON floodgate.audit (rule, at);
CREATE TABLE floodgate.first_answers (
  account text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, at bigint NOT NULL UNIQUE,
  wall_clock bigint NOT NULL, fingerprint text COLLATE "C" NOT NULL, rule json NOT NULL, overrides json NOT NULL,
  PRIMARY KEY (account, key));
INSERT INTO floodgate.rules VALUES ('before', '3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad', 'global', '2026-11-20T22:10:38.762503+00:00',
  '{"id":"3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad","scope":"global","name":"before","mode":"enabled","rate_sensitivity":"low","burst_sensitivity":"low","profile_sensitivity":"low","created_on":"2026-11-20T22:10:38.762503+00:00","modified_on":"2026-11-20T22:10:38.762503+00:00"}');
INSERT INTO floodgate.accounts VALUES ('before', 1795212638762503, 0);
UPDATE floodgate.clock SET moment = 1795212638762503;
-- says:
SELECT c.moment, c.tokens_changed_at, a.account, a.rules_changed_at, a.lists_changed_at
  FROM floodgate.clock c LEFT JOIN floodgate.accounts a
    ON a.rules_changed_at > 1 OR a.lists_changed_at > 1 OR a.account = ANY('{}');
-- says:
BEGIN;
SELECT moment, tokens_changed_at, behind_since,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
  FROM floodgate.clock FOR UPDATE;
UPDATE floodgate.rules SET rule = '{"id":"3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad","scope":"global","name":"before","mode":"disabled","rate_sensitivity":"low","burst_sensitivity":"low","profile_sensitivity":"low","created_on":"2026-11-20T22:10:38.762503+00:00","modified_on":"2026-11-20T22:10:38.762504+00:00"}'
  WHERE account = 'before';
INSERT INTO floodgate.accounts AS a (account, rules_changed_at, lists_changed_at)
  SELECT * FROM unnest('{before}'::text[], '{1795212638762504}'::bigint[], '{0}'::bigint[])
  ON CONFLICT (account) DO UPDATE SET rules_changed_at = greatest(a.rules_changed_at, excluded.rules_changed_at),
    lists_changed_at = greatest(a.lists_changed_at, excluded.lists_changed_at);
WITH told AS (SELECT pg_notify('floodgate_changes', ''))
  UPDATE floodgate.clock SET moment = 1795212638762504, tokens_changed_at = 0, behind_since = NULL FROM told;
COMMIT;
