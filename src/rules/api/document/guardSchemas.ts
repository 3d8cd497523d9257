/** OpenAPI schemas of the guard's status and attacks. docs/reference/dns-attacks.md explains the members. */
import Type, { type TSchema } from 'typebox';
import {
  closedObject,
  count,
  counts,
  describedObject,
  moment,
  oneOf,
  orNull,
  ref,
  text,
} from './schemaParts.ts';

const heavyHitters = (description: string) => Type.Array(ref('HeavyHitter'), { maxItems: 20, description });

/** Returns a member of an object schema for each level. */
const byLevel = <const Level extends string, Schema extends TSchema>(
  levels: readonly Level[],
  schemaOf: () => Schema,
) => Object.fromEntries(levels.map((level) => [level, schemaOf()])) as Record<Level, Schema>; // one for each level

const summary = {
  id: Type.String({ format: 'uuid' }),
  instance: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Guard that detected the attack; omitted if there is only one guard.',
    }),
  ),
  region: Type.Optional(text('Region of that guard.')),
  datacenter: Type.Optional(Type.String()),
  state: oneOf(['active', 'ended']),
  zones: Type.Array(Type.String(), {
    description: 'Attacked zones, at most 100. An empty string means names outside all known zones.',
  }),
  zone_count: Type.Integer({ minimum: 0 }),
  detected_by: oneOf([
    'unknown_rate',
    'unknown_share',
    'nxdomain_share',
    'zone_rate',
    'account_rate',
    'earlier_run',
    'known_limited',
  ]),
  rule: Type.Optional(ref('AttackRule')),
  started_on: moment(),
  last_seen_on: moment('Time at which the attack was last detected.'),
  ended_on: Type.Optional(moment('Omitted while the attack is active.')),
  now: ref('AttackRates'),
  peak: ref('AttackRates'),
  queries: count('Queries in the attacked zones during the attack.'),
  unknown_names: count(),
  limited: count(),
  would_drop: count('Queries that an enabled rule would have dropped or truncated.'),
  limited_share: Type.Number({ minimum: 0, maximum: 1 }),
  known_names: describedObject('Queries for known names, which users ask for.', {
    asked: count(),
    answered: count(),
    limited: count('Dropped or truncated.'),
    would_drop: count(
      'Passed by a rule in monitoring mode that would have dropped or truncated them if enabled.',
    ),
  }),
};

const MAX_SECONDS = 600;
const series = (description: string) => Type.Array(count(), { maxItems: MAX_SECONDS, description });

const MAX_MINUTES = 10_080;
const minutes = (description: string) =>
  Type.Array(orNull('number', { minimum: 0 }), { maxItems: MAX_MINUTES, description });

/** Members that describe the effect that a rule would have had on the last minute's queries, by simulation. */
const done = {
  paying: count('Queries that would have used a token of the rate limit.'),
  limited: count('Queries that would have found no token; a part of `paying`.'),
  known_limited: count('Queries for known names that would have found no token; a part of `limited`.'),
  client_limited: count(
    'Queries above the rate limit of their client that need no token; truncated, so that the client retries over TCP.',
  ),
};

const sizeSchema = closedObject({ rate_per_second: count(), burst: count() });

export const guardSchemas = {
  AttackRule: describedObject('Rule in force; omitted if there is none.', {
    id: Type.String(),
    mode: Type.String(),
    profile_sensitivity: Type.String(),
    rate_sensitivity: Type.String(),
    burst_sensitivity: Type.String(),
  }),
  AttackRates: describedObject('Queries per second.', {
    queries: count(),
    unknown_names: count(),
    limited: count('Dropped or truncated.'),
    would_drop: count(
      'Passed by a rule in monitoring mode that would have dropped or truncated them if enabled.',
    ),
  }),
  FleetInstance: closedObject({
    id: Type.String({ format: 'uuid', description: 'Stable for the lifetime of the data folder.' }),
    region: Type.Optional(Type.String()),
    datacenter: Type.Optional(Type.String()),
    version: text('Version of Floodgate.'),
    data_plane: oneOf(['embedded', 'dnsdist']),
    rule: Type.Optional(ref('AttackRule')),
    rule_since: moment('Time since which that rule, or no rule, is in force on the guard.'),
    started_on: moment(),
    last_seen_on: moment(),
    is_up: Type.Boolean({ description: 'Whether the guard reported within the last 30 seconds.' }),
  }),
  HeavyHitter: closedObject({
    value: Type.String(),
    count: count(),
    error: count('Maximum overestimate of the count.'),
  }),
  AttackSummary: closedObject(summary),
  Attack: closedObject({
    ...summary,
    response_codes: counts('Answers to passed queries, by response code.'),
    top: closedObject({
      sampled: count('Number of sampled queries.'),
      weight: count('Number of queries that the sample represents.'),
      names: heavyHitters('Name patterns.'),
      types: heavyHitters('Query types.'),
      networks: heavyHitters(
        '/24 of IPv4 and /56 of IPv6 addresses. Source addresses of UDP queries may be spoofed.',
      ),
    }),
    sampled_names: Type.Array(
      closedObject({ name: Type.String(), type: Type.String(), network: Type.String() }),
      { maxItems: 20 },
    ),
    changes: Type.Array(
      closedObject({
        at: moment(),
        kind: oneOf(['rule', 'peak', 'zone', 'restart']),
        rule: Type.Optional(ref('AttackRule')),
        zone: Type.Optional(Type.String()),
        queries_per_second: Type.Optional(count()),
      }),
      { maxItems: 50 },
    ),
  }),
  GuardRates: describedObject('Series of equal length with one value per second, oldest first.', {
    until: moment('End of the last second in the series.'),
    passed: series('Queries that passed without a token.'),
    allowed: series('Queries that an access list allowed; a part of `passed`.'),
    paid: series('Queries that passed with a token.'),
    limited: series('Queries that were dropped or truncated.'),
    truncated: series('Queries that were truncated; a part of `limited`.'),
    would_drop: series('Queries that an enabled rule would have dropped or truncated.'),
    paying: series('Queries that used or lacked a token of the rate limit.'),
    paying_known: series('Queries for known names among `paying`.'),
    bucket_per_second: series('Tokens added to the bucket; 0 without a rule.'),
    known_asked: series('Queries for known names, which users ask for; counted when they end.'),
    known_answered: series('The part of `known_asked` that servers answered.'),
    known_limited: series('The part of `known_asked` that was dropped or truncated.'),
    attack: series('1 during an attack, otherwise 0.'),
    mode: series('Mode of the rule in force: 0 no rule, 1 disabled, 2 monitoring, 3 enabled.'),
  }),
  GuardMinuteRates: describedObject(
    'Series with one value per minute, oldest first: queries per second, on average. null if the guard did not run. The last minute may be incomplete.',
    {
      since: moment('Start of the first minute.'),
      passed: minutes('Queries that passed, with or without a token.'),
      truncated: minutes('Queries that were truncated.'),
      dropped: minutes('Queries that were dropped.'),
      would_drop: minutes('Queries that an enabled rule would have dropped or truncated.'),
      known_asked: minutes('Queries for known names.'),
      known_answered: minutes('The part of `known_asked` that servers answered.'),
      known_limited: minutes('The part of `known_asked` that was dropped or truncated.'),
      bucket_per_second: minutes('Tokens added to the bucket; 0 without a rule.'),
      attack: minutes('1 if there was an attack, otherwise 0.'),
      mode: minutes('Mode of the rule in force: 0 no rule, 1 disabled, 2 monitoring, 3 enabled.'),
    },
  ),
  SampledQueries: closedObject({
    limited: count('Number of queries that were limited, or would have been, in this second.'),
    queries: Type.Array(closedObject({ name: Type.String(), type: Type.String(), network: Type.String() }), {
      maxItems: 10,
      description: 'Some of them, selected at random. Source networks may be spoofed.',
    }),
  }),
  WhatIf: describedObject(
    'Simulated effect of other sensitivities if the rule were enabled: the guard repeats its decisions for recorded queries. Without a rule, the simulation assumes one.',
    {
      rule: Type.Optional(ref('AttackRule')),
      seconds: count('Number of simulated seconds, at most 60.'),
      queries: count('Queries in these seconds.'),
      recorded: count('Number of recorded queries, for which the simulation repeats the decision.'),
      levels: Type.Array(
        closedObject({
          profile_sensitivity: oneOf(['low', 'medium', 'high', 'very_high']),
          sensitivity: oneOf(['low', 'medium', 'high'], 'Rate and burst sensitivity.'),
          rate_per_second: count(),
          burst: count(),
          ...done,
        }),
        { maxItems: 12 },
      ),
    },
  ),
  ZoneSpan: describedObject('Queries of a zone, and the shares of them that an enabled rule would limit.', {
    queries: count(),
    limited_share: describedObject(
      'Shares of the queries by profile sensitivity, then by rate sensitivity.',
      byLevel(['low', 'medium', 'high', 'very_high'], () =>
        closedObject(byLevel(['low', 'medium', 'high'], () => Type.Number({ minimum: 0, maximum: 1 }))),
      ),
    ),
  }),
  ZoneAssessment: closedObject({
    zone: text('`.` for all names outside of every known zone.'),
    assessment: oneOf(['safe_to_enable', 'needs_rate', 'still_learning', 'under_attack']),
    judged_by: oneOf(['names', 'rate']),
    known_names: Type.Integer({ minimum: 0, description: 'Number of known names in the zone.' }),
    profile_sensitivity: oneOf(['low', 'medium', 'high', 'very_high']),
    rate_sensitivity: oneOf(
      ['low', 'medium', 'high'],
      'Sensitivities in force, for which the zone is assessed. Without a rule: `medium`.',
    ),
    policy: Type.Optional(text('Id of the policy that covers the zone.')),
    proposed: Type.Optional(
      describedObject('Settings for a policy of the zone, if it needs a rate.', {
        judge_by: oneOf(['rate']),
        rate: Type.Integer({ minimum: 1, maximum: 400_000 }),
        burst: Type.Integer({ minimum: 1, maximum: 2_000_000 }),
      }),
    ),
    hour: ref('ZoneSpan'),
    day: ref('ZoneSpan'),
    week: ref('ZoneSpan'),
    names: Type.Array(Type.String(), { maxItems: 20, description: 'Names of limited queries.' }),
    networks: Type.Array(Type.String(), {
      maxItems: 20,
      description: 'Networks of limited queries, /24 or /56. Source addresses may be spoofed.',
    }),
  }),
  GuardStatus: closedObject({
    instance: Type.String({ format: 'uuid', description: 'Id of this guard, as in attacks.' }),
    data_plane: oneOf(['embedded', 'dnsdist']),
    rule: Type.Optional(ref('AttackRule')),
    not_ready: Type.Optional(text('Difference from the configuration that is not applied yet.')),
    ready: Type.Boolean({ description: 'Whether the guard has learned enough to drop.' }),
    profile_names: count(),
    profile_bytes: count(),
    threshold: sizeSchema,
    bucket: closedObject({ rate_per_second: count(), burst: count(), tokens: Type.Number() }),
    since_start: closedObject({
      passed: count(),
      allowed: count('Queries that an access list allowed; a part of `passed`.'),
      paid: count(),
      would_drop: count(),
      dropped: count(),
      truncated: count(),
      reasons: Type.Unsafe<Record<string, Record<string, number>>>(
        Type.Object({}, { additionalProperties: counts('Counts by outcome.') }),
      ),
      known_names: describedObject('Queries for known names, counted when they end.', {
        asked: count(),
        answered: count(),
        limited: count('Dropped or truncated.'),
      }),
    }),
    attack: Type.Boolean(),
    attacked_zones: Type.Array(Type.String()),
    attacks: Type.Array(ref('AttackSummary'), { description: 'Active attacks.' }),
    test_flood: Type.Optional(
      describedObject('Only in `floodgate dev`, where `POST /operations/test-flood` starts a flood.', {
        ends_on: Type.Optional(moment('End of the running flood; omitted if none runs.')),
      }),
    ),
  }),
};
