import { expect, it } from 'vitest';
import type { Rule } from '../../api/types.ts';
import { fallbackOf } from './texts.ts';

const ruleOf = (scope: Rule['scope'], name: string, second = 1): Rule => ({
  id: `${name}${second}`,
  scope,
  name,
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
  created_on: '2026-11-25T03:12:00Z',
  modified_on: `2026-11-25T03:12:0${second}Z`,
});
const [lax, wnam, wide] = [ruleOf('datacenter', 'lax'), ruleOf('region', 'WNAM'), ruleOf('global', 'global')];

it.each([
  [
    lax,
    [lax, wide],
    /^Queries there fall back to a rule for their region, or to the one for everywhere, which/,
  ],
  [lax, [lax], /^Without a rule for their region, no rule is in force there/],
  [wnam, [wnam, wide], /^Queries there fall back to the rule for everywhere, which is enabled\.$/],
  [wnam, [wnam, lax], /^At other locations, no rule is in force/],
  [wide, [wide, wnam], /^At other locations, no rule is in force/],
])('the dialog names the rule that applies after a deletion (case %#)', (rule, rules, text) => {
  expect(fallbackOf(rule, rules)).toMatch(text);
});

it('the dialog for one of two rules with the same location depends on which of them is in force', () => {
  const newer = ruleOf('region', 'WNAM', 2);
  expect(fallbackOf(newer, [newer, wnam])).toMatch(
    /^Queries there fall back to the other rule for region WNAM/,
  );
  expect(fallbackOf(wnam, [newer, wnam])).toBe('Nothing changes: the rule is not in force.');
});
