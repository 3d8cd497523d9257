import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { NodePool } from '../nodes/index.ts';
import type { Hash } from '../traces/index.ts';
import { PooledSource } from './pooledSource.ts';

const hash = (text: string) => `0x${text.padStart(64, '0')}` as Hash; // 32 bytes of lower-case hex
const TOO_LARGE = 1024 * 1024 * 1024;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Stands for a node that cannot be had in a unit test: the HTTP side of one, which says what it is told to say. */
class ToldNode {
  head = 10;
  finalized: number | undefined;
  fork = 'a';
  chainId = 1;
  isDown = false;
  isTooLarge = false;
  lies = false;
  asked = 0;
  url = '';
  readonly #server: Server = createServer(async (request, response) => {
    this.asked++;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const calls = JSON.parse(body) as Call | Call[]; // Floodgate sends nothing else
    const isTraces = [calls].flat().some(({ method }) => method === 'trace_block');
    if (this.isDown) request.socket.destroy();
    else if (this.isTooLarge && isTraces) response.writeHead(200, { 'content-length': TOO_LARGE }).write('{');
    else response.end(JSON.stringify(Array.isArray(calls) ? calls.map(this.#answer) : this.#answer(calls)));
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer = ({ id, method, params: [which] }: Call): object => {
    const result = this.#resultOf(method, which);
    const error = { code: -32_601, message: `the method ${method} does not exist` };
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };

  #resultOf(method: string, which: unknown): unknown {
    if (method === 'eth_chainId') return `0x${this.chainId.toString(16)}`;
    if (method === 'trace_block') return this.lies ? [{ type: 'call' }] : [];
    if (method !== 'eth_getBlockByNumber') return undefined;
    if (which === 'latest') return this.#block(this.head);
    if (which === 'safe') return null;
    return this.#block(which === 'finalized' ? this.finalized : Number(which));
  }

  #block(number: number | undefined): object | null {
    if (number === undefined || number > this.head) return null;
    const hashOf = (height: number): Hash => hash(height <= 0 ? '0' : `${this.fork}${height}`);
    return {
      number: `0x${number.toString(16)}`,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: '0x1',
      difficulty: '0x0',
      gasUsed: '0x0',
      miner: `0x${'ee'.repeat(20)}`,
      transactions: [],
      uncles: [],
      // Its hash is not checked: what is hashed of it is not known.
      somethingNew: true,
    };
  }
}

describe('PooledSource', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  async function sourceOf(count: number, prepare: (...nodes: ToldNode[]) => void = () => undefined) {
    const nodes = await Promise.all(Array.from({ length: count }, () => new ToldNode().start()));
    prepare(...nodes);
    const log: string[] = [];
    const nameOf = (host: string) => `n${nodes.findIndex(({ url }) => url.endsWith(host))}`;
    const observer = {
      answered: () => undefined,
      failed: () => undefined,
      sentInvalidResponse: () => undefined,
      hedged: () => undefined,
      healthChanged: () => undefined,
      traceMethodFound: () => undefined,
      headWentBack: () => undefined,
    };
    // Polled when a test says so.
    const pool = new NodePool(
      { nodes: nodes.map(({ url }) => ({ url })), pollIntervalMs: 600_000 },
      { observer },
    );
    stops.push(() => pool.stop(), ...nodes.map((node) => () => node.stop()));
    await pool.start();
    const source = new PooledSource(pool, (node, what, error) =>
      log.push(`${nameOf(node.client.host)} ${what}: ${error.reason}`),
    );
    const poll = () => Promise.all(pool.nodes.map((node) => pool.refresh(node)));
    return { nodes: nodes as [ToldNode, ToldNode, ...ToldNode[]], log, source, poll }; // at least two are asked for
  }

  const down = /cannot be reached or broke off/;

  it('takes from another node what one lies about, and tells why', async () => {
    const { nodes, source, log } = await sourceOf(2);
    await source.block(2);
    nodes[0].lies = true;
    expect((await source.block(3))?.header.number).toBe(3);
    expect(log).toEqual(['n0 block 3: nonsense']);
  });

  it('asks two nodes for a block whose traces are too large to be taken in, and no more', async () => {
    const { nodes, source, log } = await sourceOf(4);
    await source.block(1);
    for (const node of nodes) node.isTooLarge = true;
    await expect(source.block(3)).rejects.toThrow(/more than \d+ bytes/);
    expect(log.filter((line) => line.endsWith('block 3: oversized'))).toHaveLength(2);
  });

  it('takes from another node what one does not have yet', async () => {
    const { source } = await sourceOf(2, (first) => {
      first.head = 2;
    });
    expect((await source.blockRef(3))?.number).toBe(3);
    expect(await source.blockRef(11)).toBeUndefined();
  });

  it('asks the node first that has the head, and once polled again the one that has it then', async () => {
    const { nodes, source, poll } = await sourceOf(2, (_, second) => {
      if (second) second.head = 12;
    });
    const asked = nodes[0].asked;
    expect((await source.blockRef(12))?.number).toBe(12);
    expect(nodes[0].asked).toBe(asked);
    nodes[0].head = 13;
    await poll();
    const askedSecond = nodes[1].asked;
    expect((await source.blockRef(13))?.number).toBe(13);
    expect(nodes[1].asked).toBe(askedSecond);
  });

  it('says what is wrong where no node can give it', async () => {
    const { nodes, source, poll } = await sourceOf(2);
    for (const node of nodes) node.isDown = true;
    await expect(source.block(3)).rejects.toThrow(down);
    await poll();
    await expect(source.heads()).rejects.toThrow(down);
  });

  it('never takes from a node of another chain', async () => {
    const { nodes, source, log } = await sourceOf(2, (_, second) => {
      if (second) Object.assign(second, { chainId: 2, head: 99 });
    });
    expect((await source.heads()).latest.number).toBe(10);
    nodes[0].isDown = true;
    await expect(source.block(3)).rejects.toThrow(down);
    expect(log).toContain('n1 block 3: refused');
  });

  it('looks again whether a node is of the chain after it was down', async () => {
    const { nodes, source, log } = await sourceOf(2);
    nodes[0].isDown = true;
    nodes[1].isDown = true;
    await expect(source.blockRef(3)).rejects.toThrow(down);
    Object.assign(nodes[1], { isDown: false, chainId: 7 });
    await expect(source.blockRef(3)).rejects.toThrow(down);
    expect(log).toContain('n1 block 3: refused');
  });

  it('keeps the head while only nodes that are behind answer, and goes on with them when they have caught up', async () => {
    const { nodes, source, poll } = await sourceOf(2, (_, second) => {
      if (second) second.head = 8;
    });
    expect((await source.heads()).latest.number).toBe(10);
    nodes[0].isDown = true;
    for (let i = 0; i < 3; i++) await poll();
    expect((await source.heads()).latest.number).toBe(10);
    nodes[1].head = 11;
    expect((await source.freshHeads()).latest.number).toBe(11);
  });

  it('follows its node back where that one reorganises', async () => {
    const { nodes, source, poll } = await sourceOf(2);
    nodes[1].isDown = true;
    nodes[0].head = 11;
    for (let i = 0; i < 3; i++) await poll();
    nodes[0].head = 9;
    expect((await source.freshHeads()).latest.number).toBe(9);
  });

  it('stays with one of two chains of the same length', async () => {
    const { nodes, source } = await sourceOf(2, (_, second) => {
      if (second) Object.assign(second, { fork: 'b', head: 11 });
    });
    expect((await source.heads()).latest.hash).toBe(hash('b11'));
    nodes[0].head = 11;
    expect((await source.freshHeads()).latest.hash).toBe(hash('b11'));
    expect((await source.blockRef(11))?.hash).toBe(hash('b11'));
  });

  it('keeps what was final', async () => {
    const { nodes, source } = await sourceOf(2, (first) => {
      first.finalized = 6;
    });
    expect((await source.heads()).finalized?.number).toBe(6);
    nodes[1].head = 12;
    nodes[1].finalized = 4;
    expect((await source.freshHeads()).finalized?.number).toBe(6);
  });

  it('says of a single node what that one says, also where its final block goes back', async () => {
    const { nodes, source } = await sourceOf(1, (only) => {
      only.finalized = 6;
    });
    expect((await source.heads()).finalized?.number).toBe(6);
    Object.assign(nodes[0], { head: 8, finalized: 4 });
    const { latest, finalized } = await source.freshHeads();
    expect([latest.number, finalized?.number]).toEqual([8, 4]);
  });

  it('asks nobody for the heads that polls have told, and leaves a node alone that does not answer them', async () => {
    const { nodes, source, poll } = await sourceOf(2);
    nodes[0].isDown = true;
    await poll();
    const asked = nodes.map((node) => node.asked);
    await source.heads();
    expect(nodes.map((node) => node.asked)).toEqual(asked);
    await source.block(3);
    expect(nodes[0].asked).toBe(asked[0]);
  });

  it('asks itself for the head where the last poll was not answered', async () => {
    const { nodes, source, poll } = await sourceOf(1);
    nodes[0].isDown = true;
    await poll();
    await expect(source.heads()).rejects.toThrow(down);
    Object.assign(nodes[0], { isDown: false, head: 12 });
    expect((await source.heads()).latest.number).toBe(12);
  });
});
