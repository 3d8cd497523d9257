import { expect, it } from 'vitest';
import { isCurrent } from './current.ts';

const attack = { state: 'active', last_seen_on: '2026-11-25T03:12:00Z' } as const;
const at = (time: string, isAttacked: boolean) => ({
  at: `2026-11-25T${time}Z`,
  guard: { attack: isAttacked, instance: 'here' },
});

it('an attack at this guard goes on while the guard reports it and was seen in the last ten seconds', () => {
  expect(isCurrent(attack, at('03:12:01', true))).toBe(true);
  expect(isCurrent({ ...attack, instance: 'here' }, at('03:12:09', true))).toBe(true);
  // Another attack goes on.
  expect(isCurrent(attack, at('03:12:11', true))).toBe(false);
  expect(isCurrent(attack, at('03:12:01', false))).toBe(false);
  expect(isCurrent({ ...attack, state: 'ended' }, at('03:12:01', true))).toBe(false);
  expect(isCurrent(attack, undefined)).toBe(true);
});

it('an attack at another guard goes on for a minute after its last report', () => {
  const remote = { ...attack, instance: 'there' };
  expect(isCurrent(remote, at('03:12:59', false))).toBe(true);
  expect(isCurrent(remote, at('03:13:01', false))).toBe(false);
  expect(isCurrent(attack, { at: '2026-11-25T03:12:30Z' })).toBe(true);
});
