import { tmpdir } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { QUIET } from '../../../platform/logging/index.ts';
import { AttackDetector } from '../../detector/index.ts';
import { DnsdistDataPlane } from './dnsdistDataPlane.ts';
import { DnsdistNode } from './node.ts';

const NOW = Date.UTC(2026, 10, 21);
const address = { host: '127.0.0.1', port: 1 };

afterEach(() => vi.restoreAllMocks());

/** Whether the servers count as healthy if each node reports this number of servers, and no query was answered. */
function areHealthy(serversUp: readonly (number | undefined)[]): boolean {
  const reports = vi.spyOn(DnsdistNode.prototype, 'serversUp', 'get');
  for (const servers of serversUp) reports.mockReturnValueOnce(servers);
  const detector = new AttackDetector({ high: 1, low: 2 }, { profile: { maxNames: 1_000 } }, NOW);
  const plane = new DnsdistDataPlane(
    {
      consoles: serversUp.map(() => address),
      key: Buffer.alloc(32).toString('base64'),
      dnstap: address,
      folder: tmpdir(),
    },
    { detector, log: QUIET, isSeeding: () => false },
  );
  return plane.upstreamsHealthy(NOW);
}

it.each([
  { reported: [1], expected: true },
  { reported: [0], expected: false },
  { reported: [undefined], expected: false },
  { reported: [1, undefined], expected: true },
  { reported: [2, 0], expected: false },
])('without answers, the servers are healthy if each dnsdist that reports has one: $reported', (given) => {
  expect(areHealthy(given.reported)).toBe(given.expected);
});
