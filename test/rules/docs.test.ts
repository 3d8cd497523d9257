import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorTable } from '../../src/rules/api/index.ts';
import { fieldTable, zonePolicyFields } from '../../src/rules/index.ts';
import { readRuleFile } from '../../src/rules/plan/index.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

it('the table of errors in docs/reference/rules-api.md lists exactly the statuses and codes of the API', () => {
  const table = read('reference/rules-api.md').split('<!-- errors')[1]?.split('\n## ')[0] ?? '';
  const documented = [...table.matchAll(/\| (\d{3}) +\| (\d{4,5}) +\|/g)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const rows = Object.values(errorTable).map(({ status, code }) => `${status} ${code}`);
  expect(new Set(documented)).toEqual(new Set(rows));
});

it('the table of fields in docs/reference/rules-api.md matches the schema', () => {
  expect(read('reference/rules-api.md'), 'run `npm run docs`').toContain(`-->\n\n${fieldTable()}\n`);
});

it('the table of fields in docs/reference/zone-policies.md lists exactly the fields of a zone policy', () => {
  const table = read('reference/zone-policies.md').split('## Fields')[1]?.split('## ')[0] ?? '';
  const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field);
  expect(documented).toEqual(zonePolicyFields.map(({ member }) => member));
});

it('the rules file in docs/guides/rules-as-code.md is valid', () => {
  const file = /```yaml\n([\s\S]+?)```/.exec(read('guides/rules-as-code.md'))?.[1] ?? '';
  const { rules, zones } = readRuleFile(file, 'docs');
  expect([rules.length, zones?.length]).toEqual([2, 1]);
});
