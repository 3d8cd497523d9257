import { expect, it } from 'vitest';
import { SignInCode } from './signInCode.ts';

const TOKEN = 'fg_a_token';
const MINUTE_MS = 60_000;

it('a sign-in code can be exchanged one time, within ten minutes', () => {
  let nowMs = 0;
  const code = new SignInCode(TOKEN, () => nowMs);
  nowMs = 10 * MINUTE_MS - 1;
  expect(code.exchange(code.text)).toBe(TOKEN);
  expect(code.exchange(code.text)).toBeUndefined();
  const late = new SignInCode(TOKEN, () => nowMs);
  nowMs += 10 * MINUTE_MS;
  expect(late.exchange(late.text)).toBeUndefined();
});

it('a sign-in code expires after ten wrong codes of any length', () => {
  const code = new SignInCode(TOKEN);
  for (const wrong of [
    '',
    'x',
    code.text.slice(1),
    `${code.text}x`,
    'é'.repeat(32),
    '\u0000',
    'A'.repeat(32),
    '1',
    '2',
  ])
    expect(code.exchange(wrong)).toBeUndefined();
  expect(new SignInCode(TOKEN).text).not.toBe(code.text);
  expect(code.text).toMatch(/^[\w-]{32}$/);
  expect(code.exchange('3')).toBeUndefined();
  expect(code.exchange(code.text)).toBeUndefined();
});
