import type { Static } from 'typebox';
import type {
  fixedMembers,
  profileSensitivities,
  ruleSchema,
  sensitivities,
  serviceMembers,
} from './format/ruleSchema.ts';

/**
 * DNS protection rule. Its `id` is a UUID. Each change increases `modified_on`, and no two rules of a store have the
 * same value. `created_on` and `modified_on` are in the format of `formatTimestamp`.
 */
export type Rule = Readonly<Required<Static<typeof ruleSchema>>>;

/** Members that a client sends to create a rule. The case of a name is preserved. */
export type NewRule = Omit<Rule, (typeof serviceMembers)[number]>;

/** Members of a rule that an update may change. */
export type RuleSettings = Omit<NewRule, (typeof fixedMembers)[number]>;

export type ProfileSensitivity = (typeof profileSensitivities)[number];
export type Sensitivity = (typeof sensitivities)[number];

/** Example of a rule in monitoring mode, which counts the queries that it would drop but drops none. */
export const exampleRule: NewRule = {
  scope: 'global',
  name: 'global',
  mode: 'monitoring',
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

export const MAX_RULES_PER_ACCOUNT = 1000;
