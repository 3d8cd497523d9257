import type { Static } from 'typebox';
import type {
  fixedMembers,
  profileSensitivities,
  ruleSchema,
  sensitivities,
  serviceMembers,
} from './ruleSchema.ts';

/**
 * A DNS protection rule. `id` is a UUID; `created_on` and `modified_on` are as `formatTimestamp` writes them, and
 * `modified_on` grows with every change and differs between any two changes of one store.
 */
export type Rule = Readonly<Required<Static<typeof ruleSchema>>>;

/** What a caller says when it creates a rule. Names are kept in the case that they came in. */
export type NewRule = Omit<Rule, (typeof serviceMembers)[number]>;

/** What an update may change. */
export type RuleSettings = Omit<NewRule, (typeof fixedMembers)[number]>;

export type ProfileSensitivity = (typeof profileSensitivities)[number];
export type Sensitivity = (typeof sensitivities)[number];

/** A rule to show how one is created: it counts everywhere what it would drop, and drops nothing. */
export const exampleRule: NewRule = {
  scope: 'global',
  name: 'global',
  mode: 'monitoring',
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

/** Rules that one account may hold; one more is refused. */
export const MAX_RULES_PER_ACCOUNT = 1000;
