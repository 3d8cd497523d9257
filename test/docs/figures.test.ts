import { expect, it } from 'vitest';
import { read } from './support/commands.ts';

/** Returns the rows of the table whose header starts with `head`. */
const rowsOf = (page: string, head: string): string[] =>
  (page.split(head)[1]?.split('\n\n')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);

it('every figure of the README is in bench/README.md, with an existing command that measures it', () => {
  const measured = read('bench/README.md');
  const { scripts } = JSON.parse(read('package.json'));
  const rows = rowsOf(read('README.md'), '| Measured, ');
  expect(rows.length).toBe(3);
  for (const row of rows) {
    const [, , figures = '', command = ''] = row.split('|');
    const numbers = figures.match(/\d[\d,.]*\d|\d/g) ?? [];
    expect(numbers.length, row).toBeGreaterThan(0);
    for (const number of numbers) expect(measured, row).toContain(number);
    const [, script = '', part] = /`npm run ([\w:]+) ?(\w*)`/.exec(command) ?? [];
    expect(Object.keys(scripts), row).toContain(script);
    expect(measured, row).toContain(part ? `\`${part}\`` : `\`${script}\``);
  }
});
