import { expect, it } from 'vitest';
import { revertReason } from './revertReason.ts';

const word = (n: number) => n.toString(16).padStart(64, '0');
const bytesOf = (text: string) => new TextEncoder().encode(text);
const hexOf = (text: string) =>
  Array.from(bytesOf(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
const errorString = (text: string) =>
  `0x08c379a0${word(32)}${word(bytesOf(text).length)}${hexOf(text).padEnd(64, '0')}`;

it('decodes Error(string), Panic(uint256) and custom errors', () => {
  expect(revertReason(errorString('not yours'))).toBe('"not yours"');
  expect(revertReason(`0x4e487b71${word(0x11)}`)).toBe('Panic 0x11: arithmetic overflow or underflow');
  expect(revertReason(`0x4e487b71${word(0x99)}`)).toBe('Panic 0x99');
  expect(revertReason('0xcf479181')).toBe('custom error 0xcf479181');
  expect(revertReason('0x')).toBeUndefined();
  expect(revertReason(undefined)).toBeUndefined();
});

it('treats malformed data as a custom error, and limits the length of a reason', () => {
  const selector = '0x08c379a0';
  for (const data of ['', word(32), word(2 ** 31), `${word(32)}${word(2 ** 31)}`, `${'f'.repeat(128)}`, 'zz'])
    expect(revertReason(selector + data)).toBe('custom error 0x08c379a0');
  expect(revertReason(errorString('<img src=x>\u202e\u0000'))).toContain('<img src=x>');
  expect(revertReason(errorString('x'.repeat(5000)))?.length).toBeLessThan(1_010);
});
