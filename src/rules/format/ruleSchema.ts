import Type from 'typebox';
import { MAX_NAME_CHARACTERS, namePattern } from './ruleName.ts';

export const profileSensitivities = ['low', 'medium', 'high', 'very_high'] as const;
export const sensitivities = ['low', 'medium', 'high'] as const;

function oneOf<const Values extends readonly string[]>(values: readonly [...Values], description: string) {
  return Type.Enum<[...Values]>(values, { type: 'string', description });
}

const timestamp = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}\\+00:00$',
  description: 'Set by the service; six fractional digits and a numeric offset.',
});

/**
 * Schema of a DNS protection rule as it is sent, stored and passed to the guard. Members are in the order of
 * responses. It is the only list of the fields of a rule; `RuleFormat` derives everything else from it.
 *
 * Creations and updates can set a new field unless `serviceMembers` or `fixedMembers` contains it. A new field needs
 * a `default` for rules that were stored before it existed. `Type.Optional` lets a creation omit it and use the
 * default.
 */
export const ruleSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
      maxLength: 36,
      description: 'Set by the service.',
    }),
    scope: oneOf(
      ['global', 'region', 'datacenter'],
      'Scope of the rule. The most specific scope wins: datacenter, then region, then global.',
    ),
    name: Type.String({
      pattern: namePattern,
      description: `1 to ${MAX_NAME_CHARACTERS} visible characters. For the scopes region and datacenter, the name of the location, such as WEUR or lax: visible ASCII characters without spaces. For global, a label.`,
    }),
    mode: oneOf(
      ['enabled', 'monitoring', 'disabled'],
      'enabled drops queries, monitoring counts the queries that it would drop, disabled does neither.',
    ),
    profile_sensitivity: oneOf(
      profileSensitivities,
      'Sensitivity to names that were not seen before: how early they count as an attack.',
    ),
    rate_sensitivity: oneOf(
      sensitivities,
      'Sensitivity to the sustained rate: high drops packets at a lower rate than low.',
    ),
    burst_sensitivity: oneOf(
      sensitivities,
      'Sensitivity to bursts: high drops packets at a smaller burst than low.',
    ),
    created_on: timestamp,
    modified_on: timestamp,
  },
  { additionalProperties: false },
);

type Member = keyof typeof ruleSchema.properties;

/** Fields that the service sets. */
export const serviceMembers = ['id', 'created_on', 'modified_on'] as const satisfies readonly Member[];

/** Fields that an update cannot change, because a rule with another scope or name is another rule. */
export const fixedMembers = ['scope', 'name'] as const satisfies readonly Member[];
