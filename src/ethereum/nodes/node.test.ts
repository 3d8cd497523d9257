import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UpstreamNode } from './node.ts';
import { NodeError } from './source.ts';

const ENDS = { latest: { number: 1, hash: '0x1', parentHash: '0x0' } };
const broken = new NodeError('nonsense', 'half an answer');

describe('what is thought of a node', () => {
  let node: UpstreamNode;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    node = new UpstreamNode('node-1', 'http://127.0.0.1:1');
    node.polled(ENDS, 1);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await node.connection.close();
  });

  /** Whether a poll, so long after now, makes it a node to ask again. */
  const isGoodAfter = (seconds: number): boolean => {
    vi.setSystemTime(Date.now() + seconds * 1_000);
    node.polled(ENDS, 1);
    return node.standing === 'good';
  };

  it('one that fails three times in a row is left aside until its next poll', () => {
    for (let i = 0; i < 2; i++) node.failed(broken);
    expect(node.standing).toBe('good');
    node.failed(broken);
    expect(node.standing).toBe('failing');
    expect(isGoodAfter(0)).toBe(true);
  });

  it('one that fails now and then is asked on', () => {
    for (let i = 0; i < 1_000; i++) i % 3 === 0 ? node.failed(broken) : node.answered(1);
    expect(node.standing).toBe('good');
  });

  it('one that fails more than half of its requests, never three in a row, is left aside for five seconds', () => {
    let requests = 0;
    for (; node.standing === 'good' && requests < 1_000; requests++)
      requests % 3 === 2 ? node.answered(1) : node.failed(broken);
    expect(node.standing).toBe('failing');
    expect(requests).toBeGreaterThan(20);
    expect(isGoodAfter(4)).toBe(false);
    expect(isGoodAfter(2)).toBe(true);
  });

  it('one that was caught lying is looked at again after ten minutes, whatever it answers before', () => {
    node.lied();
    expect(isGoodAfter(590)).toBe(false);
    node.failed(broken);
    node.answered(1);
    expect(node.standing).toBe('lying');
    expect(isGoodAfter(20)).toBe(true);
  });
});
