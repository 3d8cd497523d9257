import { expect, it } from 'vitest';
import { failureOf } from './failure.ts';

const BODY = { errors: [{ message: 'Could not route to /accounts/a/rules/x, perhaps your object …' }] };

it.each([
  ['/accounts/a/network/configs/dns_protection/rules/x', 'Rule not found.'],
  ['/accounts/a/network/configs/dns_protection/rules/x/analytics', 'Rule not found.'],
  ['/user/tokens/x', 'Token not found.'],
  ['/somewhere', 'It was not found.'],
])('an object at %s that does not exist is named, and no route is shown', (path, what) => {
  expect(failureOf(404, BODY, { path })).toMatchObject({ what, faults: [] });
});

it('other errors show the messages of the server', () => {
  expect(failureOf(400, BODY, { path: '/user/tokens' }).faults).toHaveLength(1);
  const after = (method: string) => failureOf(500, {}, { path: '/user/tokens', method }).still;
  expect(after('GET')).toBe('Nothing was changed.');
  expect(after('POST')).toContain('not known');
});
