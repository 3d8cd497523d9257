import { expect, it } from 'vitest';
import { csvOf } from './saveCsv.tsx';

it('CSV quotes cells, and marks text that a spreadsheet could run as a formula', () => {
  expect(
    csvOf([
      ['time', 'a "b", c'],
      ['2026-11-27T03:12:45Z', 1.5, null, '12-3'],
    ]),
  ).toBe('time,"a ""b"", c"\r\n2026-11-27T03:12:45Z,1.5,,12-3\r\n');
  expect(csvOf([['=1+1', '+1', '-1', '@A1', '\tx', '\rx']])).toBe(`'=1+1,'+1,'-1,'@A1,'\tx,"'\rx"\r\n`);
});
