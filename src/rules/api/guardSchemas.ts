/** What the guard tells of itself and of attacks, as OpenAPI describes it. docs/dns-protection.md says what each member means. */
import Type, { type TSchema } from 'typebox';

const closed = { additionalProperties: false };
const ref = (name: string) => Type.Ref(`#/components/schemas/${name}`);
const count = (description?: string) => Type.Number({ minimum: 0, ...(description && { description }) });
const moment = (description?: string) =>
  Type.String({ format: 'date-time', ...(description && { description }) });
const countsBy = (description: string): TSchema =>
  Type.Object({}, { additionalProperties: Type.Number(), description });
const heavyHitters = (description: string) => Type.Array(ref('HeavyHitter'), { maxItems: 20, description });

const summary = {
  id: Type.String({ format: 'uuid' }),
  instance: Type.Optional(
    Type.String({ format: 'uuid', description: 'Which guard saw it; left out where there is only one.' }),
  ),
  region: Type.Optional(Type.String({ description: 'Where that stands.' })),
  datacenter: Type.Optional(Type.String()),
  state: Type.Enum(['active', 'ended'], { type: 'string' }),
  zones: Type.Array(Type.String(), {
    description: 'The attacked zones, 100 at most; empty for what lies outside every known zone.',
  }),
  zone_count: Type.Integer({ minimum: 0 }),
  noticed_by: Type.Enum(
    [
      'unknown_rate',
      'unknown_share',
      'nxdomain_share',
      'zone_rate',
      'account_rate',
      'earlier_run',
      'known_refused',
    ],
    { type: 'string' },
  ),
  rule: Type.Optional(ref('AttackRule')),
  started_on: moment(),
  last_seen_on: moment('When it was an attack the last time.'),
  ended_on: Type.Optional(moment('Left out while it lasts.')),
  now: ref('AttackRates'),
  peak: ref('AttackRates'),
  queries: count('In the attacked zones while they were attacked.'),
  unknown_names: count(),
  refused: count(),
  would_refuse: count('Would have been refused were the rule enabled.'),
  refused_share: Type.Number({ minimum: 0, maximum: 1 }),
  known_names: Type.Object(
    { asked: count(), answered: count(), refused: count() },
    { ...closed, description: 'Queries for names that the guard knows: those of users.' },
  ),
};

const MAX_SECONDS = 600;
const series = (description: string) => Type.Array(count(), { maxItems: MAX_SECONDS, description });

/** What a rule would have done. */
const done = {
  paying: count('Queries that would have had to pay.'),
  refused: count('Of these, those that would have found no token.'),
  known_refused: count('Of these, those for names that the guard knows.'),
  client_limited: count('Queries that need not pay, above the limit of one client: sent to TCP.'),
};

const sizeSchema = Type.Object({ rate_per_second: count(), burst: count() }, closed);

/** The schemas that the OpenAPI document names beside those of rules. */
export const guardSchemas = {
  AttackRule: Type.Object(
    {
      id: Type.String(),
      mode: Type.String(),
      profile_sensitivity: Type.String(),
      rate_sensitivity: Type.String(),
      burst_sensitivity: Type.String(),
    },
    { ...closed, description: 'The rule in force; left out where there is none.' },
  ),
  AttackRates: Type.Object(
    { queries: count(), unknown_names: count(), refused: count() },
    { ...closed, description: 'A second.' },
  ),
  FleetInstance: Type.Object(
    {
      id: Type.String({ format: 'uuid', description: 'The same for as long as there is its data folder.' }),
      region: Type.Optional(Type.String()),
      datacenter: Type.Optional(Type.String()),
      version: Type.String({ description: 'Of Floodgate.' }),
      data_plane: Type.Enum(['embedded', 'dnsdist'], { type: 'string' }),
      rule: Type.Optional(ref('AttackRule')),
      rule_since: moment('Since when that rule, or none, is in force there.'),
      started_on: moment(),
      last_seen_on: moment(),
      is_up: Type.Boolean({ description: 'Whether it was seen within the last 30 seconds.' }),
    },
    closed,
  ),
  HeavyHitter: Type.Object(
    { value: Type.String(), count: count(), error: count('So much of the count may be that of others.') },
    closed,
  ),
  AttackSummary: Type.Object(summary, closed),
  Attack: Type.Object(
    {
      ...summary,
      response_codes: countsBy('Answers to what passed, by response code.'),
      top: Type.Object(
        {
          sampled: count('Queries that were looked at.'),
          weight: count('How many they stand for.'),
          names: heavyHitters('Patterns of names.'),
          types: heavyHitters('Query types.'),
          networks: heavyHitters('/24 of IPv4 addresses, /56 of IPv6 ones. Over UDP they may be forged.'),
        },
        closed,
      ),
      sampled_names: Type.Array(
        Type.Object({ name: Type.String(), type: Type.String(), network: Type.String() }, closed),
        { maxItems: 20 },
      ),
      changes: Type.Array(
        Type.Object(
          {
            at: moment(),
            kind: Type.Enum(['rule', 'peak', 'zone', 'restart'], { type: 'string' }),
            rule: Type.Optional(ref('AttackRule')),
            zone: Type.Optional(Type.String()),
            queries_per_second: Type.Optional(count()),
          },
          closed,
        ),
        { maxItems: 50 },
      ),
    },
    closed,
  ),
  GuardRates: Type.Object(
    {
      until: moment('When the last second ended.'),
      passed: series('Queries that passed without paying.'),
      paid: series('Those that paid a token.'),
      refused: series('Those that were refused.'),
      would_refuse: series('Those that would have been refused were the rule enabled.'),
      paying: series('Those that had to pay.'),
      paying_known: series('Those that had to pay for names that the guard knows.'),
      bucket_per_second: series('Tokens that came into the bucket; 0 without a rule.'),
      attack: series('1 where there was an attack, 0 where not.'),
    },
    { ...closed, description: 'Series of one length, with a value for each second, the oldest first.' },
  ),
  WhatIf: Type.Object(
    {
      rule: Type.Optional(ref('AttackRule')),
      seconds: count('How many seconds were looked at, 60 at most.'),
      queries: count('In these seconds.'),
      recorded: count('So many of them were recorded, and decided about again.'),
      levels: Type.Array(
        Type.Object(
          {
            sensitivity: Type.Enum(['low', 'medium', 'high'], {
              type: 'string',
              description: 'Of rate and burst together, under the profile sensitivity of the rule in force.',
            }),
            rate_per_second: count(),
            burst: count(),
            ...done,
          },
          closed,
        ),
        { maxItems: 3 },
      ),
      profile_levels: Type.Array(
        Type.Object(
          {
            profile_sensitivity: Type.Enum(['low', 'medium', 'high', 'very_high'], {
              type: 'string',
              description: 'Under the rate and burst sensitivity of the rule in force.',
            }),
            ...done,
          },
          closed,
        ),
        { maxItems: 4 },
      ),
    },
    {
      ...closed,
      description:
        'What rules would have done, had they been enabled: the guard decides again about the queries that it recorded. Without a rule, as if there were one with medium sensitivities.',
    },
  ),
  GuardStatus: Type.Object(
    {
      instance: Type.String({ format: 'uuid', description: 'Which guard this is, as attacks name it.' }),
      data_plane: Type.Enum(['embedded', 'dnsdist'], { type: 'string' }),
      rule: Type.Optional(ref('AttackRule')),
      not_ready: Type.Optional(Type.String({ description: 'What is not as configured yet.' })),
      ready: Type.Boolean({ description: 'Whether the guard has learned enough to drop.' }),
      profile_names: count(),
      profile_bytes: count(),
      threshold: sizeSchema,
      bucket: Type.Object({ rate_per_second: count(), burst: count(), tokens: Type.Number() }, closed),
      since_start: Type.Object(
        {
          passed: count(),
          paid: count(),
          would_drop: count(),
          dropped: count(),
          truncated: count(),
          reasons: Type.Object({}, { additionalProperties: countsBy('By what came of it.') }),
        },
        closed,
      ),
      attack: Type.Boolean(),
      attacked_zones: Type.Array(Type.String()),
      attacks: Type.Array(ref('AttackSummary'), { description: 'Those that have not ended.' }),
    },
    closed,
  ),
};
