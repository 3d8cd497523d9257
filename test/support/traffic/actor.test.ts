import { expect, test } from 'vitest';
import type { Address } from '../../../src/ethereum/traces/index.ts';
import { ACTOR, constructing, deploying, program } from './actor.ts';

const TARGET = `0x${'ab'.repeat(20)}` as Address; // 20 bytes of lower-case hex

test('an action is encoded as forty bytes followed by its data', () => {
  const inner = program({ kind: 'stop' });
  expect(program({ kind: 'call', target: TARGET, value: 258n, gas: 65_535, data: inner })).toBe(
    `0x${['01', '00', 'ab'.repeat(20), '0000ffff', '000028', '0000000000000000000102', inner.slice(2)].join('')}`,
  );
});

test('an action can target the contract itself, and the contract that it created last', () => {
  expect(program({ kind: 'call', target: 'self' }).slice(2, 6)).toBe('0101');
  expect(program({ kind: 'call', target: 'created' }).slice(2, 6)).toBe('0102');
});

test('a value that does not fit into its field is rejected, not truncated', () => {
  expect(() => program({ kind: 'call', target: TARGET, value: 2n ** 88n })).toThrow(/does not fit/);
  expect(() => program({ kind: 'call', target: TARGET, gas: 2 ** 32 })).toThrow(/does not fit/);
});

test("init code consists of the contract's code and the program that it runs", () => {
  expect(constructing({ kind: 'stop' })).toBe(ACTOR + program({ kind: 'stop' }).slice(2));
  expect(deploying()).toBe(constructing({ kind: 'become' }));
});
