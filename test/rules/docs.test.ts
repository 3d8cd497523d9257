import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorTable } from '../../src/rules/api/index.ts';
import { fieldTable } from '../../src/rules/index.ts';
import { readRuleFile } from '../../src/rules/plan/index.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

it('the table of errors in the documentation has every status and code of the interface, and no other', () => {
  const table = read('rules-api.md').split('<!-- errors')[1]?.split('\n## ')[0] ?? '';
  const documented = [...table.matchAll(/\| (\d{3}) +\| (\d{4,5}) +\|/g)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const rows = Object.values(errorTable).map(({ status, code }) => `${status} ${code}`);
  expect(new Set(documented)).toEqual(new Set(rows));
});

it('the table of fields in the documentation is that of the schema', () => {
  expect(read('rules-api.md'), 'run `npm run docs`').toContain(`-->\n\n${fieldTable()}\n`);
});

it('the file of rules in the documentation is one', () => {
  const file = /```yaml\n([\s\S]+?)```/.exec(read('rules-as-code.md'))?.[1] ?? '';
  expect(readRuleFile(file, 'docs').rules).toHaveLength(2);
});
