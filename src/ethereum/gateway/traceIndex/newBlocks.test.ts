import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RateLimitedError } from '../../jsonrpc/index.ts';
import { NewBlocks } from './newBlocks.ts';

let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const errorOf = (run: () => void): unknown => {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
};

test('a client gets two full ranges at once, then 20 blocks per second', () => {
  let limited = 0;
  const meter = new NewBlocks(800, { limited: () => limited++ }).meterOf({ address: '192.0.2.1' });
  meter.charge(800);
  meter.charge(800);
  const error = errorOf(() => meter.charge(800));
  expect(error).toBeInstanceOf(RateLimitedError);
  expect(error).toMatchObject({
    code: -32005,
    status: 429,
    retryAfterSeconds: 40,
    message: expect.stringMatching(/at most 1600 new blocks .* 20 more per second; try again in 40 s$/),
    data: { limit: 1600, requested: 800, retryAfterSeconds: 40 },
  });
  expect(limited).toBe(1);
  nowMs += 10_000;
  meter.charge(200);
  expect(errorOf(() => meter.charge(1))).toBeInstanceOf(RateLimitedError);
  nowMs += 3_600_000;
  meter.charge(1_600);
  expect(errorOf(() => meter.charge(1))).toBeInstanceOf(RateLimitedError);
});

test('other clients are not limited, but the addresses of one key and the keys of one address are', () => {
  const blocks = new NewBlocks(800);
  blocks.meterOf({ address: '192.0.2.1', keyId: 'a' }).charge(1_600);
  blocks.meterOf({ address: '192.0.2.2', keyId: 'b' }).charge(1_600);
  expect(errorOf(() => blocks.meterOf({ address: '192.0.2.3', keyId: 'a' }).charge(1))).toBeDefined();
  expect(errorOf(() => blocks.meterOf({ address: '192.0.2.1', keyId: 'c' }).charge(1))).toBeDefined();
  // A rejected request costs nothing.
  blocks.meterOf({ address: '192.0.2.3', keyId: 'c' }).charge(1_600);
});

test('an IPv6 /56 has two shares and a /48 has four', () => {
  const blocks = new NewBlocks(800);
  const client = (network: string) => blocks.meterOf({ address: `2001:db8:0:${network}::/64` });
  client('100').charge(1_600);
  client('101').charge(1_600);
  expect(errorOf(() => client('102').charge(1))).toMatchObject({ data: { limit: 3_200 } });
  client('200').charge(1_600);
  client('300').charge(1_600);
  expect(errorOf(() => client('400').charge(1))).toMatchObject({ data: { limit: 6_400 } });
  blocks.meterOf({ address: '2001:db8:1:100::/64' }).charge(1_600);
});

test('refunded blocks are available again, and never more than the limit', () => {
  const meter = new NewBlocks(800).meterOf({ address: '192.0.2.1' });
  meter.charge(1_600);
  meter.refund(50);
  meter.charge(50);
  meter.refund(5_000);
  meter.charge(1_600);
  expect(errorOf(() => meter.charge(1))).toBeDefined();
});

test('a block is fetched first for the client whose blocks took less time', async () => {
  const blocks = new NewBlocks(800);
  const [busy, other] = ['192.0.2.1', '192.0.2.2'].map((address) => blocks.meterOf({ address }));
  busy?.fetched(10);
  other?.fetched(9);
  const order: string[] = [];
  await Promise.all([
    busy?.turn().then(() => order.push('busy')),
    other?.turn().then(() => order.push('other')),
  ]);
  expect(order).toEqual(['other', 'busy']);
});
