import type { Static } from 'typebox';
import type {
  fixedMembers,
  profileSensitivities,
  ruleSchema,
  sensitivities,
  serviceMembers,
} from './format/ruleSchema.ts';

/**
 * DNS protection rule. Its `id` is a UUID. `modified_on` increases with each change and is unique in a store. Both
 * times are formatted by `formatTimestamp`.
 */
export type Rule = Readonly<Required<Static<typeof ruleSchema>>>;

/** Members that a client sends to create a rule. Names keep their case. */
export type NewRule = Omit<Rule, (typeof serviceMembers)[number]>;

/** Members that an update may change. */
export type RuleSettings = Omit<NewRule, (typeof fixedMembers)[number]>;

export type ProfileSensitivity = (typeof profileSensitivities)[number];
export type Sensitivity = (typeof sensitivities)[number];

/** Example of a rule in monitoring mode, which drops nothing and counts what it would drop. */
export const exampleRule: NewRule = {
  scope: 'global',
  name: 'global',
  mode: 'monitoring',
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

/** Maximum number of rules per account. */
export const MAX_RULES_PER_ACCOUNT = 1000;
