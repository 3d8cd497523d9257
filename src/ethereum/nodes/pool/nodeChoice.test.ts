import { afterEach, describe, expect, it } from 'vitest';
import type { Hash } from '../../traces/index.ts';
import { NodeBudget } from '../client/nodeBudget.ts';
import { NodeClient } from '../client/nodeClient.ts';
import type { Health } from './health.ts';
import { NetworkHeads } from './networkHeads.ts';
import { NodeChoice } from './nodeChoice.ts';
import { UpstreamNode } from './upstreamNode.ts';

const HEAD = 100;
const hashOf = (number: number, fork = ''): Hash => `0x${number}${fork}` as Hash; // only compared
const headsAt = (number: number, fork = '') => ({
  latest: { number, hash: hashOf(number, fork), parentHash: hashOf(number - 1, fork) },
});

const made: UpstreamNode[] = [];
afterEach(async () => {
  for (const node of made.splice(0)) await node.client.close();
});

interface NodeState {
  readonly health?: Health;
  /** Number of the latest block; null if the node has reported no heads. */
  readonly latest?: number | null;
  readonly fork?: string;
  readonly latencyMs?: number;
  readonly isChainVerified?: boolean;
  readonly lastPollSucceeded?: boolean;
  readonly callsPerSecond?: number;
}

function node(name: string, state: NodeState = {}): UpstreamNode {
  const { health = 'healthy', latest = HEAD, fork, latencyMs, callsPerSecond, ...others } = state;
  const client = new NodeClient('http://127.0.0.1:1', { budget: NodeBudget.of({ callsPerSecond }) });
  const upstream = new UpstreamNode(name, client);
  upstream.adopt({
    ...upstream.state,
    health,
    heads: latest === null ? undefined : headsAt(latest, fork),
    lastPollSucceeded: true,
    isChainVerified: true,
    ...others,
  });
  for (let i = 0; latencyMs !== undefined && i < 1000; i++) upstream.recordLatency(latencyMs);
  made.push(upstream);
  return upstream;
}

/** Returns the choice between these nodes on a chain whose head is block 100 and whose final block is 90. */
function choiceOf(...nodes: readonly UpstreamNode[]): NodeChoice {
  const heads = new NetworkHeads(() => undefined);
  const finalized = headsAt(90).latest;
  for (let number = 95; number <= HEAD; number++)
    heads.update([{ node: 'any', heads: { ...headsAt(number), finalized } }], 0);
  return new NodeChoice(nodes, heads);
}

const best = (nodes: readonly UpstreamNode[], needsBlock?: number, tried: readonly UpstreamNode[] = []) =>
  choiceOf(...nodes).best(new Set(tried), needsBlock, () => true)?.name;

describe('the best node for a relayed request', () => {
  const isRelayedTo: Readonly<Record<Health, boolean>> = {
    healthy: true,
    failing: true,
    busy: true,
    unknown: false,
    drained: false,
    quarantined: false,
    wrongChain: false,
  };
  // Object.keys loses the types of the keys.
  it.each(Object.keys(isRelayedTo) as Health[])('a node that is %s is used only if it may be', (health) => {
    expect(best([node('only', { health })])).toBe(isRelayedTo[health] ? 'only' : undefined);
  });

  it('is the one with the lowest expected time', () => {
    const [slow, fast] = [node('slow', { latencyMs: 80 }), node('fast', { latencyMs: 20 })];
    expect(best([slow, fast])).toBe('fast');
    fast.inFlight = 5;
    expect(best([slow, fast])).toBe('slow');
  });

  it('is the first of equal ones', () => {
    expect(best([node('first'), node('second')])).toBe('first');
  });

  it('is an untried one', () => {
    const [first, second] = [node('first'), node('second')];
    expect(best([first, second], undefined, [first])).toBe('second');
    expect(best([first, second], undefined, [first, second])).toBeUndefined();
  });

  it('has a budget for the call, or none at all', () => {
    const [limited, free] = [node('limited', { callsPerSecond: 1 }), node('free', { latencyMs: 500 })];
    const choice = choiceOf(limited, free);
    expect(choice.best(new Set(), undefined, () => true)?.name).toBe('limited');
    expect(choice.best(new Set(), undefined, () => false)?.name).toBe('free');
  });

  it('lags at most eight blocks, unless no other healthy node is left', () => {
    const slow = node('slow', { latencyMs: 5000 });
    const near = node('near', { latest: HEAD - 8 });
    const far = node('far', { latest: HEAD - 9 });
    expect(best([slow, near])).toBe('near');
    expect(best([slow, far])).toBe('slow');
    expect(best([far])).toBe('far');
    expect(best([far, node('failing', { health: 'failing', latencyMs: 1 })])).toBe('far');
    expect(best([node('silent', { latest: null }), slow])).toBe('slow');
  });

  it('has the block that the request needs; a healthy node without it is never used', () => {
    const [behind, ahead] = [node('behind', { latest: 96 }), node('ahead', { latencyMs: 5000 })];
    expect(best([behind, ahead], 97)).toBe('ahead');
    expect(best([behind, ahead], 96)).toBe('behind');
    expect(best([behind], 97)).toBeUndefined();
    expect(best([node('silent', { latest: null })], 0)).toBeUndefined();
  });

  it('is a failing node with the block rather than a failing node without it', () => {
    const without = node('without', { health: 'failing', latest: 96, latencyMs: 1 });
    const having = node('having', { health: 'failing', latencyMs: 5000 });
    expect(best([without, having], 97)).toBe('having');
    expect(best([without], 97)).toBe('without');
    expect(best([having, node('healthy', { latest: 80, latencyMs: 9000 })], 70)).toBe('healthy');
  });

  it('is not on another fork, unless the block is final', () => {
    const [forked, other] = [node('forked', { fork: 'b' }), node('other', { latencyMs: 5000 })];
    expect(best([forked, other], 91)).toBe('other');
    expect(best([forked, other], 90)).toBe('forked');
    expect(best([forked], 91)).toBe('forked');
  });
});

describe('a block can be answered', () => {
  it.each<[string, readonly NodeState[], number, boolean]>([
    ['by a healthy node that has it', [{}], HEAD, true],
    ['not above the head of every node', [{}, { latest: 99 }], HEAD + 1, false],
    ['not by a node without heads', [{ latest: null }], 0, false],
    ['not by a failing node', [{ health: 'failing' }], 1, false],
    ['by one of several nodes', [{ health: 'failing' }, { latest: 95 }, {}], HEAD, true],
    ['not by one of several nodes on another fork', [{ fork: 'b' }, { latest: 95 }], 96, false],
    ['by one on another fork if the block is final', [{ fork: 'b' }, { latest: 80 }], 90, true],
  ])('%s', (_, ...[states, block, can]) => {
    expect(choiceOf(...states.map((state, i) => node(`n${i}`, state))).canAnswer(block)).toBe(can);
  });
});

describe('the nodes that define the head', () => {
  const names = (...nodes: readonly UpstreamNode[]) =>
    choiceOf(...nodes)
      .headNodes()
      .map(({ name }) => name);

  it('are the healthy ones', () => {
    expect(names(node('a'), node('b', { health: 'busy' }), node('c'))).toEqual(['a', 'c']);
  });

  it('are those with a verified chain if none is healthy, without drained and quarantined ones', () => {
    expect(
      names(
        node('unverified', { health: 'failing', isChainVerified: false }),
        node('failing', { health: 'failing' }),
        node('drained', { health: 'drained' }),
        node('quarantined', { health: 'quarantined' }),
      ),
    ).toEqual(['failing']);
  });

  it('include a single node in quarantine, but no drained one', () => {
    expect(names(node('only', { health: 'quarantined' }))).toEqual(['only']);
    expect(names(node('only', { health: 'drained' }))).toEqual([]);
    expect(names(node('only', { health: 'quarantined', isChainVerified: false }))).toEqual([]);
  });
});

describe('ingest', () => {
  const order = (nodes: readonly UpstreamNode[], block?: number) =>
    choiceOf(...nodes)
      .ingestOrder(block)
      .map(({ name }) => name);

  it('tries nodes as configured, whatever their latency', () => {
    expect(order([node('slow', { latencyMs: 900 }), node('fast', { latencyMs: 1 })])).toEqual([
      'slow',
      'fast',
    ]);
  });

  it('tries trusted nodes first, then healthy ones, polled ones, ones on the chain, and ones with the block', () => {
    const nodes = [
      node('wrong chain', { health: 'wrongChain' }),
      node('failing', { health: 'failing' }),
      node('silent', { lastPollSucceeded: false }),
      node('forked', { fork: 'b' }),
      node('behind', { latest: 96 }),
      node('good'),
    ];
    expect(order(nodes, 97)).toEqual(['good', 'behind', 'forked', 'silent', 'failing', 'wrong chain']);
    expect(order([...nodes, node('quarantined', { health: 'quarantined' })], 97).at(-1)).toBe('quarantined');
    expect(order([node('drained', { health: 'drained' }), node('good')])).toEqual(['good']);
  });

  it('tries a node that lags more than eight blocks late, because it may have stopped on another fork', () => {
    const [near, far] = [node('near', { latest: HEAD - 8 }), node('far', { latest: HEAD - 9, fork: 'b' })];
    expect(order([near, node('head')], 50)).toEqual(['near', 'head']);
    expect(order([far, node('head')], 50)).toEqual(['head', 'far']);
    expect(order([far, node('failing', { health: 'failing' })], 50)).toEqual(['far', 'failing']);
  });

  it('prefers the node with the head if no block is named', () => {
    expect(order([node('behind', { latest: 99 }), node('head')])).toEqual(['head', 'behind']);
    expect(order([node('behind', { latest: 99 }), node('head')], 99)).toEqual(['behind', 'head']);
    expect(order([node('none', { latest: null }), node('behind', { latest: 99 })])).toEqual([
      'behind',
      'none',
    ]);
  });
});
