import { expect, it, vi } from 'vitest';
import { QUIET } from '../../platform/logging/index.ts';
import { checkNewZonePolicy, type ZonePolicy } from '../../rules/index.ts';
import { AttackDetector } from '../detector/index.ts';
import { watchZonePolicies } from './watchZonePolicies.ts';

const policyOf = (zone: string): ZonePolicy => ({
  id: zone,
  ...checkNewZonePolicy({ zone }),
  created_on: '',
  modified_on: '',
});

const zonesOf = (detector: AttackDetector): string[] => detector.zonesWithPolicy().map(({ name }) => name);

it('the detector receives the zone policies at the start and after each change, and keeps them if they cannot be read', async () => {
  const detector = new AttackDetector({ high: 1, low: 2 });
  expect(zonesOf(detector)).toEqual([]);
  let policies = [policyOf('one.example')];
  let isBroken = false;
  const listeners = new Set<() => void>();
  const warnings: string[] = [];
  const applied = vi.fn();
  const stop = await watchZonePolicies({
    zonePolicies: {
      async list() {
        if (isBroken) throw new Error('no store');
        return policies;
      },
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    detector,
    log: { ...QUIET, warn: (_fields: object, text: string) => void warnings.push(text) },
    onPolicies: applied,
  });
  expect(zonesOf(detector)).toEqual(['one.example']);
  const change = () => {
    for (const listener of listeners) listener();
  };
  policies = [policyOf('two.example')];
  change();
  await vi.waitFor(() => expect(zonesOf(detector)).toEqual(['two.example']));
  isBroken = true;
  change();
  await vi.waitFor(() => expect(warnings).toEqual(['cannot read the zone policies; keeping the last ones']));
  expect(zonesOf(detector)).toEqual(['two.example']);
  expect(applied).toHaveBeenCalledTimes(2);
  stop();
  expect(listeners.size).toBe(0);
});
