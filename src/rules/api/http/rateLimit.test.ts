import { expect, it } from 'vitest';
import { ApiError } from './errors.ts';
import { RateLimiter } from './rateLimit.ts';

it('the remaining seconds of a rate limit never exceed its window', () => {
  for (let now = 0.1; now < 1e6; now *= 1.37)
    expect(new RateLimiter({ requests: 1, windowSeconds: 4 }, () => now).count('a')['ratelimit']).toBe(
      '"default";r=0;t=4',
    );
});

it('each token has its own number of requests per window, and the next window starts at zero', () => {
  let now = 0;
  const limiter = new RateLimiter({ requests: 2, windowSeconds: 10 }, () => now);
  expect(limiter.count('a')).toEqual({
    ratelimit: '"default";r=1;t=10',
    'ratelimit-policy': '"default";q=2;w=10',
  });
  now = 4_500;
  expect(limiter.count('a')).toMatchObject({ ratelimit: '"default";r=0;t=6' });
  const refused = errorOf(() => limiter.count('a'));
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '6', ratelimit: '"default";r=0;t=6' },
  });
  expect(limiter.count('b')).toMatchObject({ ratelimit: '"default";r=1;t=10' });
  now = 9_999;
  expect(errorOf(() => limiter.count('a'))?.headers['retry-after']).toBe('1');
  now = 10_000;
  expect(limiter.count('a')).toMatchObject({ ratelimit: '"default";r=1;t=10' });
});

function errorOf(call: () => unknown): ApiError | undefined {
  try {
    call();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return undefined;
}
