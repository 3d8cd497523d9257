import { expect, it } from 'vitest';
import type { FleetInstance } from '../../api/types.ts';
import { fleetHeadline, isOutdated, placeText } from './texts.ts';

const guard = (version: string, is_up = true): FleetInstance => ({
  id: version,
  version,
  is_up,
  data_plane: 'embedded',
  rule_since: '',
  started_on: '',
  last_seen_on: '',
});

it('a guard is outdated if one that is up has a newer version, by the numbers in it', () => {
  const guards = [guard('0.9.0'), guard('0.10.0'), guard('0.11.0', false)];
  expect(guards.map((one) => isOutdated(one, guards))).toEqual([true, false, false]);
});

it('the headline counts guards that are up, silent and outdated', () => {
  expect(fleetHeadline([])).toBe('Guards: none.');
  expect(fleetHeadline([guard('1')])).toBe('Guards: 1 up.');
  expect(fleetHeadline([guard('0.9.0'), guard('0.10.0'), guard('0.10.0', false)])).toBe(
    'Guards: 2 up, 1 silent, 1 with an older version.',
  );
  expect([placeText({}), placeText({ region: 'WEUR', datacenter: 'AMS' })]).toEqual([
    'no location',
    'WEUR, AMS',
  ]);
});
