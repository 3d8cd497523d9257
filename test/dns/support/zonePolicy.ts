import type { ZonePolicy } from '../../../src/rules/index.ts';

/** Returns a policy of a zone in which all that is not given is learned or taken from the rule. */
export const zonePolicy = (given: Partial<ZonePolicy> & Pick<ZonePolicy, 'zone'>): ZonePolicy => ({
  id: '5f0c9a0e-3f0e-4c56-9a53-6a4d5a5f7f11',
  mode: 'inherit',
  judge_by: 'auto',
  rate: null,
  burst: null,
  unknown_per_second: null,
  profile_sensitivity: null,
  rate_sensitivity: null,
  burst_sensitivity: null,
  only_when_upstream_unhealthy: false,
  comment: '',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
  ...given,
});
