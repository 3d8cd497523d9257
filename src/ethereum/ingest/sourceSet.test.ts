import { describe, expect, it } from 'vitest';
import { NodeError, type NodeHeads, type TracedBlock } from '../nodes/index.ts';
import type { Hash } from '../traces/index.ts';
import { SourceSet } from './sourceSet.ts';

const hash = (text: string) => `0x${text.padStart(64, '0')}` as Hash; // 32 bytes of lower-case hex

/** Stands for a node, which cannot be had in a unit test: says what it is told to say. */
class ToldNode {
  head = 10;
  finalized: number | undefined;
  fork = 'a';
  chainId = 1;
  failure: NodeError | undefined;
  lies = false;
  asked = 0;

  #say<T>(value: T): Promise<T> {
    this.asked++;
    return this.failure ? Promise.reject(this.failure) : Promise.resolve(value);
  }
  chain() {
    return this.#say({ chainId: this.chainId, genesisHash: hash('0') });
  }
  heads(): Promise<NodeHeads> {
    const ref = (number: number) => ({ number, hash: hash(`${this.fork}${number}`) });
    return this.#say({
      latest: ref(this.head),
      ...(this.finalized !== undefined && { finalized: ref(this.finalized) }),
    });
  }
  blockRef(number: number) {
    return this.#say(number > this.head ? undefined : { number, hash: hash(`${this.fork}${number}`) });
  }
  block(number: number): Promise<TracedBlock | undefined> {
    if (this.lies) return Promise.reject(new NodeError('nonsense', 'traces do not fit block'));
    const header = {
      number,
      hash: hash(`${this.fork}${number}`),
      parentHash: hash(`${this.fork}${number - 1}`),
      timestamp: 0,
      transactionHashes: [],
    };
    return this.#say(number > this.head ? undefined : { header, traces: [] });
  }
  transactionBlock() {
    return this.#say(undefined);
  }
}

function setOf(count: number) {
  const nodes = Array.from({ length: count }, () => new ToldNode());
  const log: string[] = [];
  const clock = { nowMs: 0 };
  const members = nodes.map((source, i) => ({ name: `n${i}`, source }));
  const set = new SourceSet(
    members,
    (node, what, error) => log.push(`${node} ${what}: ${error.reason}`),
    () => undefined,
    () => clock.nowMs,
  );
  return { nodes: nodes as [ToldNode, ToldNode, ...ToldNode[]], log, clock, set }; // at least two are asked for
}

const down = new NodeError('unreachable', 'down');

describe('SourceSet', () => {
  it('takes from another node what one lies about, and tells why', async () => {
    const { nodes, set, log } = setOf(2);
    nodes[0].lies = true;
    expect((await set.block(3))?.header.number).toBe(3);
    expect(log).toEqual(['n0 block 3: nonsense']);
  });

  it('asks two nodes for a block whose traces are too large to be taken in, and no more', async () => {
    const { nodes, set } = setOf(4);
    const failure = new NodeError('oversized', 'too large');
    await set.block(1);
    for (const node of nodes) node.failure = failure;
    const before = nodes.map(({ asked }) => asked);
    await expect(set.block(3)).rejects.toBe(failure);
    expect(nodes.filter(({ asked }, i) => asked !== before[i])).toHaveLength(2);
  });

  it('takes from another node what one does not have yet', async () => {
    const { nodes, set } = setOf(2);
    nodes[0].head = 2;
    expect((await set.blockRef(3))?.number).toBe(3);
    expect(await set.blockRef(11)).toBeUndefined();
  });

  it('says what is wrong where no node can give it', async () => {
    const { nodes, set } = setOf(2);
    for (const node of nodes) node.failure = down;
    await expect(set.block(3)).rejects.toThrow(down);
    await expect(set.heads()).rejects.toThrow(down);
  });

  it('never takes from a node of another chain', async () => {
    const { nodes, set, log } = setOf(2);
    nodes[1].chainId = 2;
    nodes[1].head = 99;
    expect((await set.heads()).latest.number).toBe(10);
    nodes[0].failure = down;
    await expect(set.block(3)).rejects.toThrow(down);
    expect(log).toContain('n1 block 3: refused');
  });

  it('looks again whether a node is of the chain after it was down', async () => {
    const { nodes, set } = setOf(2);
    await set.heads();
    nodes[1].failure = down;
    await set.heads();
    Object.assign(nodes[1], { failure: undefined, chainId: 7 });
    nodes[0].failure = down;
    await expect(set.blockRef(3)).rejects.toThrow(down);
  });

  it('keeps the head while only nodes that are behind answer, and goes on with them when they have caught up', async () => {
    const { nodes, set, clock } = setOf(2);
    nodes[1].head = 8;
    expect((await set.heads()).latest.number).toBe(10);
    nodes[0].failure = down;
    expect((await set.heads()).latest.number).toBe(10);
    clock.nowMs = 10_000;
    nodes[1].head = 11;
    expect((await set.heads()).latest.number).toBe(11);
  });

  it('follows its node back where that one reorganises', async () => {
    const { nodes, set } = setOf(2);
    nodes[1].failure = down;
    await set.heads();
    nodes[0].head = 9;
    expect((await set.heads()).latest.number).toBe(9);
  });

  it('stays with one of two chains of the same length', async () => {
    const { nodes, set } = setOf(2);
    nodes[1].fork = 'b';
    nodes[1].head = 11;
    expect((await set.heads()).latest.hash).toBe(hash('b11'));
    nodes[0].head = 11;
    expect((await set.heads()).latest.hash).toBe(hash('b11'));
    expect((await set.blockRef(11))?.hash).toBe(hash('b11'));
  });

  it('keeps what was final', async () => {
    const { nodes, set } = setOf(2);
    nodes[0].finalized = 6;
    expect((await set.heads()).finalized?.number).toBe(6);
    nodes[1].head = 12;
    nodes[1].finalized = 4;
    expect((await set.heads()).finalized?.number).toBe(6);
  });

  it('leaves a node that does not answer alone for a while', async () => {
    const { nodes, set, clock } = setOf(2);
    nodes[0].failure = down;
    await set.heads();
    const { asked } = nodes[0];
    await set.heads();
    expect(nodes[0].asked).toBe(asked);
    clock.nowMs = 60_000;
    await set.heads();
    expect(nodes[0].asked).toBeGreaterThan(asked);
  });
});
