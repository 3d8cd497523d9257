import { beforeEach, expect, it } from 'vitest';
import type { BlockTraceError, UpstreamNode } from '../nodes/index.ts';
import { TraceAttempts } from './traceAttempts.ts';

const node = {} as UpstreamNode;
const other = {} as UpstreamNode;
const errorAt = (number: number, hash = '0x1') =>
  ({ header: { number, hash }, failure: 'no trace' }) as unknown as BlockTraceError;
const ERROR = errorAt(500);

let nowMs: number;
let attempts: TraceAttempts;
beforeEach(() => {
  nowMs = 1_000;
  attempts = new TraceAttempts(() => nowMs);
});

/** Lets a node fail at block 500 several times, with pauses. */
function fail(times: number, pauseMs: number, error = ERROR): void {
  for (let i = 0; i < times; i++) {
    attempts.failed(node, error);
    nowMs += pauseMs;
  }
}
const round = (notAsked: readonly UpstreamNode[] = []) => ({
  blockNumber: 500,
  failed: new Map([[node, ERROR]]),
  notAsked,
});
const verdict = (notAsked?: readonly UpstreamNode[]) => attempts.verdict(round(notAsked))?.failure;

it('a block is unavailable after three failures in a minute, of a node that traced a block nearby', () => {
  fail(2, 30_000);
  attempts.traced(node, 244);
  expect(attempts.nodesToProbe(round())).toEqual([]);
  expect(verdict()).toBeUndefined();
  fail(1, 0);
  expect(verdict()).toBe('no trace');
  expect(verdict([other])).toBeUndefined();
  attempts.forget(500);
  expect(verdict()).toBeUndefined();
});

it('failures within less than a minute, or too far apart, do not count', () => {
  fail(4, 19_999);
  attempts.traced(node, 500);
  attempts.forget(500);
  fail(3, 29_999);
  attempts.traced(node, 500);
  expect(verdict()).toBeUndefined();
  attempts.forget(500);
  fail(9, 600_001);
  attempts.traced(node, 500);
  expect(verdict()).toBeUndefined();
});

it('a node that cannot trace a block comes last, and is probed until it traces a block nearby', () => {
  expect(attempts.inOrder(500, [node, other])).toEqual([node, other]);
  fail(3, 30_000);
  expect(attempts.inOrder(500, [node, other])[1]).toBe(node);
  expect(attempts.nodesToProbe(round())).toEqual([node]);
  attempts.traced(node, 243);
  attempts.traced(other, 500);
  expect(attempts.nodesToProbe(round())).toEqual([node]);
  expect(verdict()).toBeUndefined();
  attempts.traced(node, 756);
  expect(attempts.nodesToProbe(round())).toEqual([]);
});

it('the oldest of more than 256 blocks is forgotten', () => {
  fail(3, 30_000);
  attempts.traced(node, 500);
  for (let number = 501; number <= 755; number++) attempts.failed(node, errorAt(number));
  expect(verdict()).toBe('no trace');
  attempts.failed(node, errorAt(756));
  expect(verdict()).toBeUndefined();
});
