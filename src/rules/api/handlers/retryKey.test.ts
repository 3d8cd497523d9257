import { expect, it } from 'vitest';
import { InvalidRule } from '../../index.ts';
import { MAX_RETRY_KEY_CHARACTERS, readRetryKey } from './retryKey.ts';

it('an Idempotency-Key has 1 to 255 visible ASCII characters', () => {
  expect(MAX_RETRY_KEY_CHARACTERS).toBe(255);
  for (const key of ['a', '!~', 'x'.repeat(255)]) expect(readRetryKey(key)).toBe(key);
  for (const key of ['', 'x'.repeat(256), 'a b', 'a\n', 'é', '\u007f', ' a'])
    expect(() => readRetryKey(key)).toThrow(InvalidRule);
});

it('a request without Idempotency-Key has none, and one with two is rejected', () => {
  expect(readRetryKey(undefined)).toBeUndefined();
  expect(() => readRetryKey(['a', 'a'])).toThrow('Idempotency-Key must be 1 to 255 visible ASCII characters');
});
