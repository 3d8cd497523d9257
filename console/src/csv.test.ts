import { expect, it } from 'vitest';
import { csvOf } from './csv.ts';

it('CSV cells with commas, quotes and line breaks are quoted', () => {
  expect(
    csvOf([
      ['a', 'b,c', 'd"e'],
      ['f\ng', ''],
    ]),
  ).toBe('a,"b,c","d""e"\r\n"f\ng",\r\n');
});

it('CSV cells that a spreadsheet would run as formulas get a prefix', () => {
  for (const first of ['=', '+', '-', '@', '\t'])
    expect(csvOf([[`${first}1`, `1${first}`]])).toBe(`'${first}1,1${first}\r\n`);
  expect(csvOf([['\r=1']])).toBe(`"'\r=1"\r\n`);
});
