import Type, { type TSchema } from 'typebox';
import { modes, profileSensitivities, scopes, sensitivities } from './rule.ts';
import { MAX_NAME_CHARACTERS, namePattern } from './ruleName.ts';

function oneOf(values: readonly string[], description: string) {
  return Type.Enum([...values], { type: 'string', description });
}

const scope = oneOf(
  scopes,
  'Where the rule applies. The most specific scope wins: datacenter, then region, then global.',
);
const name = Type.String({
  pattern: namePattern,
  description: `1 to ${MAX_NAME_CHARACTERS} visible characters. For region and datacenter the name of the place, such as WEUR or lax; for global a label.`,
});
const settings = {
  mode: oneOf(modes, 'enabled drops, monitoring only counts what it would drop, disabled does neither.'),
  profile_sensitivity: oneOf(
    profileSensitivities,
    'How soon names that were not seen before count as attack.',
  ),
  rate_sensitivity: oneOf(sensitivities, 'How low the sustained rate is at which packets are dropped.'),
  burst_sensitivity: oneOf(sensitivities, 'How small a burst is at which packets are dropped.'),
};

const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
const moment = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}\\+00:00$';
const id = Type.String({ pattern: uuid, maxLength: 36, description: 'Given by the service.' });
const timestamp = Type.String({
  format: 'date-time',
  pattern: moment,
  description: 'Set by the service; six fractional digits and a numeric offset.',
});

/** The body of a create. */
export const newRuleSchema = Type.Object({ scope, name, ...settings }, { additionalProperties: false });

const readOnly = (schema: TSchema) =>
  Type.Optional({
    ...schema,
    readOnly: true,
    description: 'Accepted only when it equals what is stored.',
  } as TSchema); // TypeBox types have no spread; the value is a schema as before with two keywords changed

/** The body of an update: any subset of the settings. What it cannot change may come along unchanged. */
export const rulePatchSchema = Type.Object(
  {
    mode: Type.Optional(settings.mode),
    profile_sensitivity: Type.Optional(settings.profile_sensitivity),
    rate_sensitivity: Type.Optional(settings.rate_sensitivity),
    burst_sensitivity: Type.Optional(settings.burst_sensitivity),
    id: readOnly(id),
    scope: readOnly(scope),
    name: readOnly(name),
    created_on: readOnly(timestamp),
    modified_on: readOnly(timestamp),
  },
  { additionalProperties: false },
);

/** A rule as every answer shows it. */
export const ruleSchema = Type.Object(
  { id, scope, name, ...settings, created_on: timestamp, modified_on: timestamp },
  { additionalProperties: false },
);
