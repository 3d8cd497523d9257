import { describe, expect, it } from 'vitest';
import { FailedRequestError, NodeClient, OversizedAnswerError, UpstreamNode } from '../../nodes/index.ts';
import { FailedRequests, MAX_REMEMBERED, REMEMBERED_MS } from './failedRequests.ts';

const node = new UpstreamNode('node-1', new NodeClient('http://127.0.0.1:1'));
const failed = new FailedRequestError(new OversizedAnswerError('127.0.0.1:1', 64), [node], true);

function remembering() {
  const clock = { nowMs: 0 };
  return { clock, requests: new FailedRequests(() => clock.nowMs) };
}

describe('requests that failed by their own fault', () => {
  it('are remembered for a minute from when they failed, however often they are asked for', () => {
    const { clock, requests } = remembering();
    requests.put('a', 'state', failed);
    for (clock.nowMs = 0; clock.nowMs < REMEMBERED_MS; clock.nowMs += 1_000)
      expect(requests.get('a', 'state')).toBe(failed);
    expect(requests.get('a', 'state')).toBeUndefined();
  });

  it('are others with other parameters, and in another state of the chain, or in one that is not known', () => {
    const { requests } = remembering();
    requests.put('a', 'state', failed);
    expect(requests.get('b', 'state')).toBeUndefined();
    expect(requests.get('a', 'other')).toBeUndefined();
    expect(requests.get('a', undefined)).toBeUndefined();
  });

  it('are never more than the bound, and the first are not pushed out by later ones until their minute is over', () => {
    const { clock, requests } = remembering();
    for (let i = 0; i < 3 * MAX_REMEMBERED; i++) requests.put(`request ${i}`, 'state', failed);
    expect(requests.size).toBe(MAX_REMEMBERED);
    expect(requests.get('request 0', 'state')).toBe(failed);
    expect(requests.get(`request ${MAX_REMEMBERED}`, 'state')).toBeUndefined();
    clock.nowMs = REMEMBERED_MS;
    requests.put('later', 'state', failed);
    expect(requests.size).toBe(1);
    expect(requests.get('later', 'state')).toBe(failed);
  });

  it('take the same room however long their parameters are', () => {
    const { requests } = remembering();
    const long = 'f'.repeat(2 ** 20);
    requests.put(`${long}1`, 'state', failed);
    expect(requests.get(`${long}1`, 'state')).toBe(failed);
    expect(requests.get(`${long}2`, 'state')).toBeUndefined();
  });
});
