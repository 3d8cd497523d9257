import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Hash } from '../../traces/index.ts';
import { NodeClient } from '../client/nodeClient.ts';
import { NodeBusyError, NodeError } from '../client/nodeError.ts';
import { UpstreamNode } from './upstreamNode.ts';

const HASH = '0x1' as Hash; // not read
const HEADS = { latest: { number: 1, hash: HASH, parentHash: HASH } };
const broken = new NodeError('nonsense', 'half an answer');

describe('the health of a node', () => {
  let node: UpstreamNode;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    node = new UpstreamNode('node-1', new NodeClient('http://127.0.0.1:1'));
    node.polled(HEADS, 1);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await node.client.close();
  });

  /** Returns whether a poll after this many seconds makes the node healthy. */
  const isHealthyAfter = (seconds: number): boolean => {
    vi.setSystemTime(Date.now() + seconds * 1_000);
    node.polled(HEADS, 1);
    return node.health === 'healthy';
  };

  it('a node that fails three times in a row leaves rotation until its next poll', () => {
    for (let i = 0; i < 2; i++) node.failed(broken);
    expect([node.health, node.failures]).toEqual(['healthy', 2]);
    node.failed(broken);
    expect([node.health, node.failures]).toEqual(['failing', 3]);
    expect(isHealthyAfter(0)).toBe(true);
  });

  it('a node that closed a connection needs a new chain check, a busy node does not', () => {
    node.isChainVerified = true;
    node.failed(new NodeBusyError('busy', 1_000));
    expect([node.health, node.isChainVerified]).toEqual(['busy', true]);
    node.failed(new NodeError('unreachable', 'broke off'));
    expect(node.isChainVerified).toBe(false);
  });

  it('a node that fails occasionally stays in rotation', () => {
    for (let i = 0; i < 1_000; i++) i % 3 === 0 ? node.failed(broken) : node.answered(1);
    expect(node.health).toBe('healthy');
  });

  it('a node that fails more than half of its requests leaves rotation for five seconds', () => {
    let requests = 0;
    for (; node.health === 'healthy' && requests < 1_000; requests++)
      requests % 3 === 2 ? node.answered(1) : node.failed(broken);
    expect(node.health).toBe('failing');
    expect(requests).toBeGreaterThan(20);
    expect(isHealthyAfter(4)).toBe(false);
    expect(isHealthyAfter(2)).toBe(true);
  });

  it('a quarantined node may return after ten minutes, not earlier', () => {
    node.quarantine('a false hash');
    expect(isHealthyAfter(590)).toBe(false);
    node.failed(broken);
    node.answered(1);
    expect(node.health).toBe('quarantined');
    expect(isHealthyAfter(20)).toBe(true);
  });
});
