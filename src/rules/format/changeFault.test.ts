import { expect, it } from 'vitest';
import { changeFault } from './changeFault.ts';

const ID = '31c70c65-9f81-4669-94ed-1e1e041e7b06';
const TIME = '2026-11-20T22:10:38.762500+00:00';

it.each([
  ['created_on', TIME, '2026-11-20T22:10:38.7625Z'],
  ['created_on', TIME, '2026-11-20T22:10:38.762500Z'],
  ['modified_on', TIME, '2026-11-20T22:10:38.762500000000+00:00'],
  ['modified_on', TIME, '2026-11-21T00:10:38.7625+02:00'],
  ['id', ID, ID.toUpperCase()],
  ['scope', 'global', 'global'],
])('a PATCH may contain %s %s as %s', (member, stored, value) => {
  expect(changeFault(member, stored, value)).toBeUndefined();
});

it.each([
  ['created_on', TIME, '2026-11-20T22:10:38.762Z'],
  ['created_on', TIME, '2026-11-20T22:10:38.7625000001Z'],
  ['created_on', TIME, '2026-11-20T22:10:38.7625'],
  ['modified_on', TIME, 'x'],
  ['modified_on', TIME, null],
  ['id', ID, 'x'],
  ['scope', 'global', 'Global'],
])('a PATCH cannot change %s %s to %s', (member, stored, value) => {
  expect(changeFault(member, stored, value)).toMatchObject({ pointer: `/${member}` });
});
