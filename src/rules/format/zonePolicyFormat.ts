import Type, { type Static, type TSchema } from 'typebox';
import { describeValue, type Fault, InvalidRule, pointerTo } from '../invalidRule.ts';
import { type ZonePolicy, type ZonePolicySettings, zoneJudgements, zoneModes } from '../zonePolicy.ts';
import { changeFault } from './changeFault.ts';
import { type Members, ObjectChecker, plainObject } from './objectChecker.ts';
import { plainText } from './plainText.ts';
import { profileSensitivities, ruleSchema, sensitivities } from './ruleSchema.ts';
import { BadZoneError, canonicalZone, MAX_ZONE_CHARACTERS, zonePattern } from './zoneName.ts';

const MAX_COMMENT_CHARACTERS = 500;
const MAX_RATE = 400_000;
const MAX_BURST = 2_000_000;

const closed = { additionalProperties: false };
const { id, created_on, modified_on } = ruleSchema.properties;

const integerOrNull = (maximum: number, description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum, description });

function oneOf<const Values extends readonly string[]>(values: readonly [...Values], description: string) {
  return Type.Enum<[...Values]>(values, { type: 'string', description });
}

const levelOrNull = <Level extends string>(levels: readonly Level[], replaced: string) =>
  Type.Unsafe<Level | null>({
    type: ['string', 'null'],
    enum: [...levels, null],
    description: `Replaces the ${replaced} of the rule in force. null: not replaced.`,
  });

const zone = Type.String({
  pattern: zonePattern,
  maxLength: MAX_ZONE_CHARACTERS,
  description:
    'Zone name, unique in the account, without the label *: a policy covers all names below its zone. Stored in lower case and without a final dot; . is the root. Cannot be changed.',
});

/** Members that a PATCH can change, in the order of responses. */
const settings = {
  mode: oneOf(zoneModes, 'Mode of the zone. inherit: the mode of the rule in force.'),
  judge_by: oneOf(
    zoneJudgements,
    'What limits the zone: names (unknown names), rate (its query rate), or auto (what the guard has learned).',
  ),
  rate: integerOrNull(MAX_RATE, 'Queries per second that the zone may receive. null: learned.'),
  burst: integerOrNull(MAX_BURST, 'Size of the token bucket in queries. null: five times the rate.'),
  unknown_per_second: integerOrNull(
    MAX_RATE,
    'Queries for unknown names per second that are an attack. null: learned.',
  ),
  profile_sensitivity: levelOrNull(profileSensitivities, 'profile sensitivity'),
  rate_sensitivity: levelOrNull(sensitivities, 'rate sensitivity'),
  burst_sensitivity: levelOrNull(sensitivities, 'burst sensitivity'),
  only_when_upstream_unhealthy: Type.Boolean({
    description: 'Whether queries are limited only while the servers behind the guard are overloaded.',
  }),
  comment: Type.String({
    maxLength: MAX_COMMENT_CHARACTERS,
    pattern: plainText(MAX_COMMENT_CHARACTERS),
    description: 'Reason for the policy.',
  }),
};

type SettingMember = keyof typeof settings;
const settingMembers = Object.keys(settings) as SettingMember[]; // the keys of the object

const defaults = {
  mode: 'inherit',
  judge_by: 'auto',
  rate: null,
  burst: null,
  unknown_per_second: null,
  profile_sensitivity: null,
  rate_sensitivity: null,
  burst_sensitivity: null,
  only_when_upstream_unhealthy: false,
  comment: '',
} as const satisfies Omit<ZonePolicySettings, 'zone'>;

const optional = (schema: TSchema, keywords: object) => Type.Optional({ ...schema, ...keywords } as TSchema); // still a schema, but TypeBox's types cannot express it
const readOnly = { readOnly: true, description: 'Accepted only if it equals the stored value.' };

/** Schema of a zone policy as it is sent and stored. Members are in the order of responses. */
export const zonePolicySchema = Type.Object({ id, zone, ...settings, created_on, modified_on }, closed);
export const newZonePolicySchema = Type.Object(
  {
    zone,
    // Without the keyword `default`, because generators of TypeScript types would make the members required.
    ...mapSettings((member) => {
      const { description } = settings[member] as TSchema & FieldKeywords;
      const text = `${description} Default: ${JSON.stringify(defaults[member])}.`;
      return optional(settings[member], { description: text });
    }),
  },
  closed,
);
export const zonePolicyPatchSchema = Type.Object(
  {
    ...mapSettings((member) => optional(settings[member], {})),
    ...Object.fromEntries(
      Object.entries({ zone, id, created_on, modified_on }).map(([member, schema]) => [
        member,
        optional(schema, readOnly),
      ]),
    ),
  },
  closed,
);

/** Members of a policy that a PATCH can change. */
export type ZonePolicyChanges = Partial<Omit<ZonePolicySettings, 'zone'>>;

interface FieldKeywords {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

/** Field of a zone policy that a client can set. */
export interface ZonePolicyField {
  readonly member: keyof ZonePolicySettings;
  readonly schema: TSchema & FieldKeywords;
  readonly isSetting: boolean;
}

export const zonePolicyFields: readonly ZonePolicyField[] = [
  { member: 'zone', schema: zone, isSetting: false },
  ...settingMembers.map((member) => ({ member, schema: settings[member], isSetting: true })),
];

const newPolicyChecker = new ObjectChecker(newZonePolicySchema, { zone: newZoneFault });
const patchChecker = new ObjectChecker<ZonePolicy>(zonePolicyPatchSchema, {
  zone: policyChangeFault('zone'),
  id: policyChangeFault('id'),
  created_on: policyChangeFault('created_on'),
  modified_on: policyChangeFault('modified_on'),
});

/** Returns the policy that a request body defines. Throws `InvalidRule` with all faults of the body. */
export function checkNewZonePolicy(body: unknown): ZonePolicySettings {
  const members = plainObject(body);
  refuse(newPolicyChecker.faultsOf(members));
  const checked = members as Partial<ZonePolicySettings>; // its members were just checked against the schema
  return settingsOf({ ...defaults, ...checked, zone: canonicalZone(checked.zone) });
}

/** Returns the settings that a body changes. Throws `InvalidRule`, also if it changes a member that is no setting. */
export function checkZonePolicyPatch(stored: ZonePolicy, body: unknown): ZonePolicyChanges {
  const members = plainObject(body);
  refuse(patchChecker.faultsOf(members, stored));
  return zonePolicyChanges(stored, members as ZonePolicyChanges); // its members were just checked
}

/** Returns the wanted settings that differ from those of a policy. */
export function zonePolicyChanges(policy: ZonePolicySettings, wanted: ZonePolicyChanges): ZonePolicyChanges {
  const changed = settingMembers.filter(
    (member) => wanted[member] !== undefined && wanted[member] !== policy[member],
  );
  return Object.fromEntries(changed.map((member) => [member, wanted[member]]));
}

/** Returns the members of a policy that a request to create it contains, in the order of responses. */
export function settingsOf(policy: ZonePolicySettings): ZonePolicySettings {
  const picked = mapSettings((member) => policy[member]);
  return { zone: policy.zone, ...picked } as ZonePolicySettings; // has all members
}

/** Returns the members of a new policy that differ from their defaults. */
export function shortSettingsOf(policy: ZonePolicySettings): Partial<ZonePolicySettings> {
  return { zone: policy.zone, ...zonePolicyChanges({ zone: policy.zone, ...defaults }, policy) };
}

/**
 * Returns a policy that a server sent, or undefined if it is none. Checks only the types of members, because a newer
 * server may allow more values.
 */
export function readZonePolicy(value: unknown): ZonePolicy | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const policy = value as Members;
  const isWhole = Object.entries(zonePolicySchema.properties).every(([member, schema]) =>
    typesOf(schema).includes(typeOf(policy[member])),
  );
  return isWhole ? (value as Static<typeof zonePolicySchema>) : undefined; // each member was just checked
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new InvalidRule(faults);
}

function zoneFault(value: unknown): Fault | undefined {
  try {
    canonicalZone(value);
    return undefined;
  } catch (error) {
    if (!(error instanceof BadZoneError)) throw error;
    return { pointer: pointerTo('zone'), message: error.message };
  }
}

/** Rejects `*.example.com` too: queries contain no wildcards, so the policy would have no effect. */
function newZoneFault(value: unknown): Fault | undefined {
  const fault = zoneFault(value);
  if (fault !== undefined || !canonicalZone(value).split('.').includes('*')) return fault;
  const reason = 'without the label *, because a policy covers all names below its zone';
  return {
    pointer: pointerTo('zone'),
    message: `zone must be a DNS name ${reason}; got ${describeValue(value)}`,
  };
}

function policyChangeFault(member: 'zone' | 'id' | 'created_on' | 'modified_on') {
  return (value: unknown, stored: ZonePolicy): Fault | undefined => {
    if (member === 'zone' && zoneFault(value) === undefined && canonicalZone(value) === stored.zone)
      return undefined;
    return changeFault(member, stored[member], value);
  };
}

function mapSettings<T>(map: (member: SettingMember) => T): Record<SettingMember, T> {
  const entries = settingMembers.map((member) => [member, map(member)] as const);
  return Object.fromEntries(entries) as Record<SettingMember, T>; // has every member
}

const typeOf = (value: unknown): string => (value === null ? 'null' : typeof value);

function typesOf(schema: TSchema & FieldKeywords): string[] {
  return [schema.type ?? []].flat().map((type) => (type === 'integer' ? 'number' : type));
}
