import { describe, expect, it } from 'vitest';
import { originHeaders, originRule } from './origins.ts';

const ORIGIN = 'https://app.example';

describe('an origin', () => {
  it('is allowed if it is listed exactly', () => {
    const rule = originRule([ORIGIN, 'http://localhost:3000']);
    expect(rule(ORIGIN)).toBe(ORIGIN);
    for (const origin of [
      'https://app.example.evil.test',
      'http://app.example',
      'https://app.example:8443',
      'null',
      '',
    ])
      expect(rule(origin)).toBeUndefined();
  });

  it('is not needed', () => {
    expect(originRule([ORIGIN])(undefined)).toBeUndefined();
    expect(originRule([])(ORIGIN)).toBeUndefined();
  });

  it('is any if the list contains *, also next to others', () => {
    for (const rule of [originRule(['*']), originRule([ORIGIN, '*'])])
      expect([rule(undefined), rule('https://evil.test')]).toEqual(['*', '*']);
  });
});

describe('the headers for an origin', () => {
  const exposed = ['access-control-expose-headers', expect.stringContaining('retry-after')];

  it('are none if it is not allowed', () => {
    expect(originHeaders(undefined, ORIGIN)).toEqual([]);
  });

  it('name it, so that shared caches store one response per origin', () => {
    expect(originHeaders(ORIGIN, ORIGIN)).toEqual([
      'access-control-allow-origin',
      ORIGIN,
      ...exposed,
      'vary',
      'origin',
    ]);
  });

  it('do not vary if any origin is allowed', () => {
    expect(originHeaders('*', ORIGIN)).toEqual(['access-control-allow-origin', '*', ...exposed]);
    expect(originHeaders('*', undefined)).toEqual(['access-control-allow-origin', '*']);
  });
});
