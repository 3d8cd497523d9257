import { expect, it } from 'vitest';
import type { Rule } from '../index.ts';
import { formatPlan } from './formatPlan.ts';

const settings = {
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
} as const;
const rule = (name: string): Rule => ({
  ...{ id: `id-${name}`, scope: 'region', name, ...settings },
  ...{ created_on: '', modified_on: '' },
});

it('a plan is painted: what is new, what changes and what goes each in its own colour', () => {
  const plan = {
    creates: [{ scope: 'global', name: 'new', ...settings } as const],
    updates: [{ rule: rule('old'), changes: { mode: 'disabled' } as const }],
    deletes: [rule('gone')],
    unchanged: [],
  };
  const lines = formatPlan(plan, (colour, text) => `<${colour}>${text}`).split('\n');
  expect(lines.filter((line) => line.startsWith('<'))).toEqual([
    '<yellow>~ change region old (id-old)',
    '<green>+ create global new',
    '<red>- delete region gone (id-gone), enabled',
    expect.stringMatching(/^<bold>Plan [0-9a-f]{16}: 1 to create, 1 to change, 1 to delete, 0 unchanged\.$/),
  ]);
});

it('a name cannot move the cursor of whoever reads the plan', () => {
  const plan = { creates: [], updates: [], deletes: [rule('a\u001b[2Jb\nc')], unchanged: [] };
  expect(formatPlan(plan, (_, text) => text)).toContain('- delete region a\uFFFD[2Jb\uFFFDc (id-');
});
