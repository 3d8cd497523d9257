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
 * What a DNS protection rule is: its fields as they stand on the wire, in the store and in the guard, in the order in
 * which every answer shows them. The only list of them; types, checks, the OpenAPI document, the file of rules, the
 * fingerprint of a retried create, and the flags and columns of the command line are made of it (`RuleFormat`).
 *
 * A field that is added here can be set on creation and by an update, unless it is named below. It needs a `default`:
 * what rules that were stored before it have. `Type.Optional` lets a creation leave it out, which then means the default.
 */
export const ruleSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
      maxLength: 36,
      description: 'Given by the service.',
    }),
    scope: oneOf(
      ['global', 'region', 'datacenter'],
      'Where the rule applies. The most specific scope wins: datacenter, then region, then global.',
    ),
    name: Type.String({
      pattern: namePattern,
      description: `1 to ${MAX_NAME_CHARACTERS} visible characters. For region and datacenter the name of the place, such as WEUR or lax; for global a label.`,
    }),
    mode: oneOf(
      ['enabled', 'monitoring', 'disabled'],
      'enabled drops, monitoring only counts what it would drop, disabled does neither.',
    ),
    profile_sensitivity: oneOf(
      profileSensitivities,
      'How soon names that were not seen before count as attack.',
    ),
    rate_sensitivity: oneOf(sensitivities, 'How low the sustained rate is at which packets are dropped.'),
    burst_sensitivity: oneOf(sensitivities, 'How small a burst is at which packets are dropped.'),
    created_on: timestamp,
    modified_on: timestamp,
  },
  { additionalProperties: false },
);

type Member = keyof typeof ruleSchema.properties;

/** Fields that the service gives. */
export const serviceMembers = ['id', 'created_on', 'modified_on'] as const satisfies readonly Member[];

/** Fields that a creation says once and for all: with another scope or name it would be another rule. */
export const fixedMembers = ['scope', 'name'] as const satisfies readonly Member[];
