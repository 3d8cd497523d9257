import fc from 'fast-check';
import { type RuleField, ruleFormat } from './format/ruleFormat.ts';
import type { NewRule, Rule } from './rule.ts';
import { formatTimestamp } from './timestamp.ts';

/** Names of generated rules. There are few, so that several rules often have the same target. */
const NAMES = ['global', 'WEUR', 'weur', 'lax', 'LAX'];

function valueArbitrary({ schema }: RuleField): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === 'boolean') return fc.boolean();
  return schema.type === 'string' ? fc.constantFrom(...NAMES) : fc.nat(100);
}

/** Generates valid new rules, for property tests. */
export const newRuleArbitrary = fc.record(
  Object.fromEntries(ruleFormat.fields.map((field) => [field.member, valueArbitrary(field)])),
) as fc.Arbitrary<unknown> as fc.Arbitrary<NewRule>; // has every field of a new rule, with values that its schema allows

/** Generates lists of stored rules with distinct ids and times. */
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
