import { expect, it } from 'vitest';
import type { AccessEntry } from '../../api/types.ts';
import { isListableName, isNetwork, listsHeadline, newEntryOf, sameEntry } from './entries.ts';

const stored = { id: 'i', comment: '', enabled: true, created_on: '', modified_on: '' };
const network: AccessEntry = { ...stored, prefix: '192.0.2.0/24' };
const name: AccessEntry = { ...stored, name: 'dyn.example' };

it('a text is a network if it has the form of an address, and otherwise a name', () => {
  for (const text of ['192.0.2.7', '192.0.2.0/24', '2001:db8::/32', '::1', '192.0.2'])
    expect(isNetwork(text)).toBe(true);
  for (const text of ['dyn.example', '2.example', 'example', '10-0.example'])
    expect(isNetwork(text)).toBe(false);
  expect(newEntryOf('dyn.example', 'x')).toEqual({ name: 'dyn.example', comment: 'x' });
});

it('patterns of random names cannot be put on a list, because an entry includes all names below it', () => {
  for (const text of ['www.example.com', '_dmarc.example.com.', 'a']) expect(isListableName(text)).toBe(true);
  for (const text of [
    '[a-z]{8}.example.com',
    '**.example.com',
    '.',
    '',
    'a..b',
    'é.example',
    `${'a.'.repeat(40)}b`,
  ])
    expect(isListableName(text)).toBe(false);
});

it('an entry that is not in force is not the same as a new one', () => {
  expect(sameEntry([network, name], 'DYN.example.')).toBe(name);
  expect(sameEntry([{ ...network, enabled: false }], '192.0.2.0/24')).toBeUndefined();
});

it('the headline counts entries that are in force', () => {
  const denied = { ...network, list: 'denylist' } as const;
  const allowed = { ...name, list: 'allowlist' } as const;
  expect(listsHeadline([])).toBe('Denied: nothing. Allowed: nothing.');
  expect(
    listsHeadline([denied, denied, { ...allowed, list: 'denylist' }, { ...allowed, enabled: false }]),
  ).toBe('Denied: 2 networks, 1 name. Allowed: nothing.');
  expect(listsHeadline([denied, allowed])).toBe('Denied: 1 network. Allowed: 1 name.');
});
