import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { checkNewZonePolicy, type Rule } from '../index.ts';
import { newZonePolicyArbitrary } from '../zonePolicy.arbitrary.ts';
import { formatRuleFile, RuleFileError, readRuleFile } from './ruleFile.ts';

const rule = {
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
} as const;

const faultsOf = (text: string) => {
  try {
    return readRuleFile(text, 'f');
  } catch (error) {
    if (error instanceof RuleFileError) return error.message.split('\n');
    throw error;
  }
};

it.each([
  [
    'rules:\n  - scope: global\n    name: a\n    mode: "on"\n    more: 1\n',
    5,
    'f:4: mode must be one of "enabled"',
  ],
  [
    'rules:\n  - scope: global\n    name: a\n    mode: "on"\n    more: 1\n',
    5,
    'f:5: "more" is not a valid field here',
  ],
  [
    'rules:\n  - scope: global\n    name: a\n    mode: "on"\n    more: 1\n',
    5,
    'f:2: rate_sensitivity is missing',
  ],
  [stringify({ rules: [rule, { ...rule, name: '' }] }), 1, 'f:9: name must be a string of 1 to 64'],
  ['rules: none', 1, 'f:1: rules must be a list'],
  ['rules: [a]', 1, 'f:1: an entry of rules must be a map of fields; got "a"'],
  ['rules:\n- null', 1, 'f:2: an entry of rules must be a map of fields; got null'],
  ['rules: []\nzones: [[a]]', 1, 'f:2: an entry of zones must be a map of fields; got an array'],
  ['rule: []\nrules: []', 1, 'f:1: rule is unknown'],
  ['rules: []\naccount: a b', 1, 'f:2: account must be'],
  ['rules: []\naccount: 123', 1, 'in quotes if all digits; got 123'],
  ['rules: []\n---\nrules: []', 6, 'f: The file contains several documents; allowed: one at line 2'],
  ['rules: []\nrules: []', 1, 'Map keys must be unique'],
  ['', 1, 'expected "rules:"'],
  [
    stringify({ rules: [rule, { ...rule, name: 'b' }] }),
    1,
    'f:8: the target equals that of the rule at f:2 (all global rules have one target)',
  ],
  [
    stringify({ rules: ['lax', 'LAX'].map((name) => ({ ...rule, scope: 'datacenter', name })) }),
    1,
    'f:8: the target equals that of the rule at f:2 (datacenter LAX)',
  ],
  ['rules: []\nzones:', 1, 'f:2: zones must be a list'],
  ['rules: []\nzones: [{}, a]', 2, 'f:2: zone is missing; it must be'],
  ['rules: []\nzones:\n  - zone: a\n    rate: 0', 1, 'f:4: rate must be an integer from 1 to 400000 or null'],
  ['rules: []\nzones:\n  - zone: a.b\n  - zone: A.b.', 1, 'f:4: the zone a.b already has a policy at f:3'],
  [
    stringify({
      rules: Array.from({ length: 1001 }, (_, i) => ({ ...rule, scope: 'region', name: `${i}` })),
      zones: Array.from({ length: 1001 }, (_, i) => ({ zone: `${i}` })),
    }),
    2,
    'f:2: rules has 1001 entries; allowed: at most 1000',
  ],
  ['rules: [*none]', 1, 'none'],
  [
    `rules:\n${'- '.repeat(5000)}a`,
    1,
    'f:2: lists and maps are nested too deeply; allowed: at most 64 levels',
  ],
  ['- a', 1, 'expected "rules:"'],
])('readRuleFile rejects %j with all faults', (text, count, message) => {
  const faults = faultsOf(text);
  expect(faults).toEqual(expect.arrayContaining([expect.stringContaining(message)]));
  if (count > 1 || !message.includes('unique')) expect(faults).toHaveLength(count);
});

it('readRuleFile rejects a file whose aliases expand excessively', () => {
  const bomb = Array.from({ length: 12 }, (_, level) =>
    level === 0
      ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
      : `a${level}: &a${level} [${Array(9).fill(`*a${level - 1}`)}]`,
  );
  const faults = faultsOf(`${bomb.join('\n')}\nrules: [*a11]`);
  expect(faults).toContainEqual(
    expect.stringContaining('f:13: its aliases (*name) expand to an excessive size'),
  );
});

it('readRuleFile accepts JSON, and reads the output of formatRuleFile', () => {
  expect(readRuleFile(JSON.stringify({ account: 'a', rules: [rule] }), 'f')).toEqual({
    account: 'a',
    rules: [rule],
    zones: undefined,
  });
  const stored = { ...rule, id: 'x', created_on: '', modified_on: '' };
  const text = formatRuleFile({ account: '123', rules: [stored], zones: [] });
  expect(text).not.toContain('zones');
  expect(readRuleFile(text, 'f')).toEqual({ account: '123', rules: [rule], zones: undefined });
});

it('formatRuleFile writes an overridden rule as a comment', () => {
  const stored = (id: string, modified_on: string) => ({ ...rule, id, created_on: '', modified_on });
  const rules: Rule[] = [
    { ...stored('x', '2'), mode: 'disabled' },
    { ...stored('y', '1'), name: 'a\nb' },
  ];
  const text = formatRuleFile({ account: 'a', rules, zones: [] });
  expect(readRuleFile(text, 'f').rules).toEqual([{ ...rule, mode: 'disabled' }]);
  expect(text).toMatch(/\n# Without effect.*apply deletes these:\n# - scope: global\n/);
  expect(text).toContain('#   mode: enabled');
});

it('formatRuleFile writes the settings of zone policies that differ from the defaults, and readRuleFile reads them', () => {
  const stored = { id: 'x', created_on: '', modified_on: '' };
  const policy = { ...stored, ...checkNewZonePolicy({ zone: 'bl.example', rate: 7, comment: 'x: y' }) };
  const text = formatRuleFile({ account: 'a', rules: [], zones: [policy] });
  expect(text).toContain('zones:\n  - zone: bl.example\n    rate: 7\n    comment: "x: y"\n');
  fc.assert(
    fc.property(newZonePolicyArbitrary, (settings) => {
      const file = formatRuleFile({ account: 'a', rules: [], zones: [{ ...stored, ...settings }] });
      expect(readRuleFile(file, 'f').zones).toEqual([settings]);
    }),
  );
});
