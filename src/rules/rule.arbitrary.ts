import fc from 'fast-check';
import { modes, type NewRule, profileSensitivities, type Rule, scopes, sensitivities } from './rule.ts';
import { formatTimestamp } from './timestamp.ts';

/** Any rule that may be created, from few names, so that targets meet. For tests. */
export const newRuleArbitrary: fc.Arbitrary<NewRule> = fc.record({
  scope: fc.constantFrom(...scopes),
  name: fc.constantFrom('global', 'WEUR', 'weur', 'lax', 'LAX'),
  mode: fc.constantFrom(...modes),
  profile_sensitivity: fc.constantFrom(...profileSensitivities),
  rate_sensitivity: fc.constantFrom(...sensitivities),
  burst_sensitivity: fc.constantFrom(...sensitivities),
});

/** Rules as a store has them: ids and moments that differ. */
export const storedRulesArbitrary: fc.Arbitrary<Rule[]> = fc
  .array(fc.tuple(newRuleArbitrary, fc.uuid(), fc.integer({ min: 0, max: 1e9 })), { maxLength: 20 })
  .map((entries) =>
    entries.map(([rule, id, offset], index) => {
      const moment = formatTimestamp(1_790_000_000_000_000 + index);
      return {
        id,
        ...rule,
        created_on: moment,
        modified_on: formatTimestamp(1_791_000_000_000_000 + offset * 100 + index),
      };
    }),
  );
