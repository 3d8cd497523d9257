import { expect, it } from 'vitest';
import { csvOf } from './csv.ts';

it('quotes cells, and disarms cells that a spreadsheet would run as a formula', () => {
  expect(csvOf([['a', 'b,c', 'say "x"', 'two\nlines']])).toBe('a,"b,c","say ""x""","two\nlines"\r\n');
  for (const cell of ['=1+1', '+1', '-1', '@x', '\tx']) expect(csvOf([[cell]])).toBe(`'${cell}\r\n`);
  expect(csvOf([['\r=x', '=a,"b"']])).toBe(`"'\r=x","'=a,""b"""\r\n`);
});
