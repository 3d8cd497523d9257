import { expect, it, onTestFinished } from 'vitest';
import { startGuard } from '../../src/dns/controller/index.ts';
import { checkNewZonePolicy } from '../../src/rules/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { until } from '../support/until.ts';
import { FakeDataPlane } from './support/fakeDataPlane.ts';

it('a guard uses the stored zone policies from its start, and changes by another process', async () => {
  const folder = temporaryFolder();
  const [storage, other] = [openRulesStorage(folder), openRulesStorage(folder)];
  onTestFinished(async () => {
    await storage.close();
    await other.close();
  });
  const actor = { by: 'token-1', from: '192.0.2.1' };
  const create = (zone: string) => other.zonePolicies.create('a', checkNewZonePolicy({ zone }), { actor });
  await create('one.example');
  let changes = 0;
  const guard = await startGuard(
    { place: {} },
    {
      dataPlane(context) {
        const dataPlane = new FakeDataPlane(context);
        dataPlane.policyChanged = () => void changes++;
        return dataPlane;
      },
      rules: { list: () => [], onChange: () => () => {} },
      zonePolicies: {
        list: () => storage.zonePolicies.list('a'),
        onChange: (listener) => storage.zonePolicies.onChange(listener),
      },
    },
  );
  onTestFinished(() => guard.stop());
  const zones = () => guard.detector.zonesWithPolicy().map(({ name }) => name);
  expect(zones()).toEqual(['one.example']);
  const before = changes;
  await create('two.example');
  await until('the second policy in the guard', () => zones().length === 2);
  await until('a call of the data plane', () => changes > before);
  await other.zonePolicies.deleteAll('a', actor);
  await until('the deletion in the guard', () => zones().length === 0);
});
