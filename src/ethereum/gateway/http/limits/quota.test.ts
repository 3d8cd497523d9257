import { expect, it } from 'vitest';
import { Quota, takeAll } from './quota.ts';

const quotaOf = (what: string, total: number) =>
  new Quota({ what, remedy: 'close others' }, { total, perClient: 2, perKey: 3 });

it('rejects more than the limit of an address, a network, an API key or all clients, and names it', () => {
  const quota = quotaOf('WebSockets', 8);
  const take = (address: string, keyId?: string) => quota.take({ address, keyId });
  for (let i = 0; i < 2; i++) take('192.0.2.1', 'k');
  expect(() => take('192.0.2.1', 'k')).toThrow(
    'WebSockets of one address: at most 2, requested 3; close others',
  );
  take('192.0.2.2', 'k');
  expect(() => take('192.0.2.2', 'k')).toThrow(
    'WebSockets of one API key: at most 3, requested 4; close others',
  );
  for (const network of [1, 2]) for (let i = 0; i < 2; i++) take(`2001:db8:1:${network}::/64`);
  expect(() => take('2001:db8:1:3::/64')).toThrow('WebSockets of the addresses of one network: at most 4');
  const release = take('192.0.2.3');
  expect(() => take('192.0.2.4')).toThrow('WebSockets of all clients: at most 8, requested 9; close others');
  release();
  release();
  expect(quota.total).toBe(7);
  take('192.0.2.4');
});

it('takes from all quotas or from none', () => {
  const [first, second] = [quotaOf('filters', 10), quotaOf('bytes', 1)];
  const wanted = [
    [first, 1],
    [second, 1],
  ] as const;
  const release = takeAll({ address: '192.0.2.1' }, wanted);
  expect(() => takeAll({ address: '192.0.2.2' }, wanted)).toThrow('bytes of all clients');
  expect([first.total, second.total]).toEqual([1, 1]);
  release();
  release();
  expect([first.total, second.total]).toEqual([0, 0]);
});
