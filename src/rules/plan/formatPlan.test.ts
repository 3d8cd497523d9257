import { expect, it } from 'vitest';
import type { Rule } from '../index.ts';
import { formatPlan, planAsJson } from './formatPlan.ts';

const settings = {
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
} as const;
const rule = (name: string): Rule => ({
  id: `id-${name}`,
  scope: 'region',
  name,
  ...settings,
  created_on: '',
  modified_on: '',
});

const subject = { baseUrl: 'http://127.0.0.1:8420/client/v4', accountId: 'a' };

it('a plan shows creations, changes and deletions in different colours', () => {
  const plan = {
    creates: [{ scope: 'global', name: 'new', ...settings } as const],
    updates: [{ item: rule('old'), changes: { mode: 'disabled' } as const }],
    deletes: [rule('gone')],
    unchanged: [],
  };
  const lines = formatPlan(plan, { subject, paint: (colour, text) => `<${colour}>${text}` }).split('\n');
  expect(lines.filter((line) => line.startsWith('<'))).toEqual([
    '<yellow>~ change region old (id-old)',
    '<green>+ create global new',
    '<red>- delete region gone (id-gone), enabled',
    expect.stringMatching(/^<bold>Plan [0-9a-f]{16}: 1 to create, 1 to change, 1 to delete, 0 unchanged\.$/),
  ]);
});

it('control characters in a name are replaced in a plan', () => {
  const plan = { creates: [], updates: [], deletes: [rule('a\u001b[2Jb\nc')], unchanged: [] };
  expect(formatPlan(plan, { subject, paint: (_, text) => text })).toContain(
    '- delete region a\uFFFD[2Jb\uFFFDc (id-',
  );
});

it('a plan as JSON contains its server, account, changes and risk', () => {
  const plan = { creates: [], updates: [], deletes: [rule('gone')], unchanged: [] };
  expect(JSON.parse(planAsJson(plan, subject))).toEqual({
    plan: expect.stringMatching(/^[0-9a-f]{16}$/),
    server: subject.baseUrl,
    account: 'a',
    creates: [],
    updates: [],
    deletes: [rule('gone')],
    unchanged: 0,
    risk: 'deletes every rule of the account',
  });
});
