import { expect, it } from 'vitest';
import { PacketFaults } from './packetFaults.ts';

it('every fault is counted, and at most one per minute is reported', () => {
  const reported: string[] = [];
  const faults = new PacketFaults((fault) => reported.push(fault));
  for (const nowMs of [0, 1, 59_999, 60_000, 60_001]) faults.note('no error object', nowMs);
  expect([faults.count, reported]).toEqual([5, ['no error object', 'no error object']]);
});
