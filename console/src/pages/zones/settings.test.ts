import { expect, it } from 'vitest';
import { membersOf, policySettingsOf, proposedIn, queryOf } from './settings.ts';

const POLICY: Parameters<typeof policySettingsOf>[0] = {
  mode: 'enabled',
  judge_by: 'rate',
  rate: 2_000,
  burst: null,
  unknown_per_second: null,
  profile_sensitivity: 'very_high',
  rate_sensitivity: null,
  burst_sensitivity: null,
  only_when_upstream_unhealthy: true,
  comment: '',
};

it('the settings of a policy become texts of the form and back', () => {
  const settings = policySettingsOf(POLICY);
  expect(settings).toMatchObject({ rate: '2000', burst: '', only_when_upstream_unhealthy: 'yes' });
  expect(membersOf(settings)).toEqual(POLICY);
});

it('a changed setting alone becomes a member, and an empty text becomes null', () => {
  expect(membersOf({ rate: '', comment: '' })).toEqual({ rate: null, comment: '' });
});

it('a proposed rate is in the URL, and a URL with other values proposes nothing', () => {
  const query = queryOf({ judge_by: 'rate', rate: 600, burst: 4_000 });
  expect(proposedIn(query)).toEqual({ judge_by: 'rate', rate: '600', burst: '4000' });
  for (const other of [
    '',
    'rate=600',
    'rate=x&burst=1',
    'rate=-1&burst=1',
    'rate=0&burst=1',
    'rate=1e9&burst=1',
  ])
    expect(proposedIn(other)).toBeUndefined();
});
