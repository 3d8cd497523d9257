import { describe, expect, it } from 'vitest';
import {
  FailedRequestError,
  NodeClient,
  OversizedResponseError,
  UpstreamNode,
} from '../../../nodes/index.ts';
import { FailedRequests, MAX_REMEMBERED, REMEMBERED_MS } from './failedRequests.ts';

const node = new UpstreamNode('node-1', new NodeClient('http://127.0.0.1:1'));
const failed = new FailedRequestError(new OversizedResponseError('127.0.0.1:1', 64), [node], true);

function remembering() {
  const clock = { nowMs: 0 };
  return { clock, requests: new FailedRequests(() => clock.nowMs) };
}

describe('failed requests', () => {
  it('are remembered for a minute after their failure, however often they are repeated', () => {
    const { clock, requests } = remembering();
    requests.put('a', 'state', failed);
    for (clock.nowMs = 0; clock.nowMs < REMEMBERED_MS; clock.nowMs += 1_000)
      expect(requests.get('a', 'state')).toBe(failed);
    expect(requests.get('a', 'state')).toBeUndefined();
  });

  it('are not found with other parameters, or in another or unknown chain state', () => {
    const { requests } = remembering();
    requests.put('a', 'state', failed);
    expect(requests.get('b', 'state')).toBeUndefined();
    expect(requests.get('a', 'other')).toBeUndefined();
    expect(requests.get('a', undefined)).toBeUndefined();
  });

  it('never exceed the limit, and later ones do not evict earlier ones within their minute', () => {
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

  it('use the same memory for parameters of any length', () => {
    const { requests } = remembering();
    const long = 'f'.repeat(2 ** 20);
    requests.put(`${long}1`, 'state', failed);
    expect(requests.get(`${long}1`, 'state')).toBe(failed);
    expect(requests.get(`${long}2`, 'state')).toBeUndefined();
  });
});
