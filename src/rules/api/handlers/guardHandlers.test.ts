import { expect, it } from 'vitest';
import type { Actor } from '../../index.ts';
import type { ApiRequest } from '../http/request.ts';
import { type GuardReports, guardHandlers } from './guardHandlers.ts';

const POLICY = '5f0c9a0e-3f0e-4c56-9a53-6a4d5a5f7f11';
const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const zones = ['example.com', 'example.net', '.'].map((zone) => ({ zone }));
const guard = {
  accountId: 'a',
  assessments: () => zones,
  mayForget: (account: string) => account === 'a',
} as Partial<GuardReports> as GuardReports; // the handlers under test use no other member

function handlers() {
  const forgotten: object[] = [];
  const audit = {
    async addForgotten(zone: object, by: Actor) {
      forgotten.push({ ...zone, ...by });
    },
  };
  const zoneOf = async (account: string, id: string) =>
    account === 'a' && id === POLICY ? 'example.com' : undefined;
  return { ...guardHandlers(guard, { audit, zoneOf }), forgotten };
}

const request = (given: Partial<ApiRequest>): ApiRequest =>
  ({ accountId: 'a', zoneId: POLICY, actor, path: '/x', query: {}, ...given }) as ApiRequest; // members that are used

const listed = async (query: object) => {
  const { body } = await handlers().assessments(request({ query: query as ApiRequest['query'] }));
  return JSON.parse(String(body)) as { result: { zone: string }[]; result_info: object };
};

it('POST …/zones/{id}/forget records the zone of the policy with its actor', async () => {
  const { forget, forgotten } = handlers();
  const { body } = await forget(request({ zoneId: POLICY.toUpperCase() }));
  expect(JSON.parse(String(body))).toEqual({ success: true, errors: [], messages: [] });
  expect(forgotten).toEqual([{ account: 'a', zone: 'example.com', policy: POLICY, ...actor }]);
});

it.each([
  ['a policy that does not exist', { zoneId: POLICY.replace('5', '6') }],
  ['an id that is not a UUID', { zoneId: 'example.com' }],
  ['an account without a guard', { accountId: 'b' }],
])('POST …/zones/{id}/forget returns 404 for %s, and records nothing', async (_, given) => {
  const { forget, forgotten } = handlers();
  await expect(forget(request(given))).rejects.toMatchObject({ status: 404 });
  expect(forgotten).toEqual([]);
});

it('GET …/zone_assessments returns pages, and one zone in any notation', async () => {
  expect((await listed({})).result).toEqual(zones);
  expect(await listed({ page: '2', per_page: '2' })).toMatchObject({
    result: [{ zone: '.' }],
    result_info: { page: 2, per_page: 2, count: 1, total_count: 3, total_pages: 2 },
  });
  for (const zone of ['example.net', 'EXAMPLE.net.', 'ex\\097mple.net'])
    expect((await listed({ zone })).result).toEqual([{ zone: 'example.net' }]);
  expect((await listed({ zone: '.' })).result).toEqual([{ zone: '.' }]);
  expect((await listed({ zone: 'example.org' })).result).toEqual([]);
});

it.each([{ zone: '' }, { zone: 'a..b' }, { zone: 'a b' }, { zone: ['a', 'b'] }, { zone: 'x'.repeat(1025) }])(
  'GET …/zone_assessments rejects a zone that is not one name: %j',
  async (query) => {
    await expect(listed(query)).rejects.toMatchObject({ faults: [{ pointer: '/zone' }] });
  },
);

it.each(['', 'x'.repeat(65), 'São', ['a', 'b']])(
  'GET …/attacks rejects a region that is not one valid name: %j',
  async (region) => {
    const got = handlers().attacks(request({ query: { region, datacenter: region } }));
    await expect(got).rejects.toMatchObject({ faults: [{ pointer: '/region' }, { pointer: '/datacenter' }] });
  },
);

it('GET …/zone_assessments returns 404 for an account that the guard does not protect', async () => {
  await expect(handlers().assessments(request({ accountId: 'b' }))).rejects.toMatchObject({
    status: 404,
  });
});
