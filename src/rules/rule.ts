/**
 * What a DNS protection rule is. Member names and values are those of the wire (seed 2.1, decisions A), so that
 * a rule is the same thing in the store, in the API and in the guard.
 */

export const scopes = ['global', 'region', 'datacenter'] as const;
export const modes = ['enabled', 'monitoring', 'disabled'] as const;
export const profileSensitivities = ['low', 'medium', 'high', 'very_high'] as const;
export const sensitivities = ['low', 'medium', 'high'] as const;

export type Scope = (typeof scopes)[number];
export type Mode = (typeof modes)[number];
export type ProfileSensitivity = (typeof profileSensitivities)[number];
export type Sensitivity = (typeof sensitivities)[number];

/** What an update may change. */
export interface RuleSettings {
  readonly mode: Mode;
  readonly profile_sensitivity: ProfileSensitivity;
  readonly rate_sensitivity: Sensitivity;
  readonly burst_sensitivity: Sensitivity;
}

/** What a caller says when it creates a rule: all six, no defaults. */
export interface NewRule extends RuleSettings {
  readonly scope: Scope;
  /** A label for `global`; the name of the place for `region` and `datacenter`, kept in the case it came in. */
  readonly name: string;
}

export interface Rule extends NewRule {
  /** A UUID, given by the store. */
  readonly id: string;
  /** As `formatTimestamp` writes it. */
  readonly created_on: string;
  /** As `created_on`; grows with every change and differs between any two changes of one store. */
  readonly modified_on: string;
}

/** The members of a rule in the order in which every answer shows them (seed 2.1). */
export const ruleMembers = [
  'id',
  'scope',
  'name',
  'mode',
  'profile_sensitivity',
  'rate_sensitivity',
  'burst_sensitivity',
  'created_on',
  'modified_on',
] as const satisfies readonly (keyof Rule)[];

export const settingMembers = [
  'mode',
  'profile_sensitivity',
  'rate_sensitivity',
  'burst_sensitivity',
] as const satisfies readonly (keyof RuleSettings)[];

/** Rules that one account may hold (decisions A); one more is refused. */
export const MAX_RULES_PER_ACCOUNT = 1000;
