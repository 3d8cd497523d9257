import { expect, it, vi } from 'vitest';

it('notifications need HTTPS or localhost, a browser that has them, and its permission', async () => {
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('window', {});
  const { obstacleOf } = await import('./notifications.ts');
  expect(obstacleOf(false, 'granted')).toContain('HTTPS or on localhost');
  expect(obstacleOf(true, undefined)).toContain('this browser has none');
  expect(obstacleOf(true, 'denied')).toContain('blocks them for this site');
  expect([obstacleOf(true, 'default'), obstacleOf(true, 'granted')]).toEqual([undefined, undefined]);
  vi.unstubAllGlobals();
});
