import { setTimeout as pause } from 'node:timers/promises';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../../src/devchain/index.ts';
import type { Random } from '../../test/support/random.ts';
import { type Answered, type LyingNode, startLyingNode } from '../../test/traces/support/lyingNode.ts';
import { rebuildTail } from '../../test/traces/support/rebuildTail.ts';
import { EveryBlock } from './everyBlock.ts';
import { STABLE_DEPTH } from './stableChain.ts';

const NODES = 3;
const BETWEEN_BLOCKS_MS = 400;
const SLOW_MS = 600;

/** One chain, and several nodes of it in front, each with troubles of its own: proxies of a real node. */
export class Nodes {
  readonly anvil: Anvil;
  readonly urls: readonly string[];
  readonly every: EveryBlock;
  readonly #nodes: LyingNode[];
  readonly #random: Random;
  #reorganisations = 0;

  private constructor(anvil: Anvil, nodes: LyingNode[], random: Random) {
    this.anvil = anvil;
    this.every = new EveryBlock(anvil.url);
    this.#nodes = nodes;
    this.#random = random;
    this.urls = nodes.map(({ url }) => url);
  }

  static async start(random: Random): Promise<Nodes> {
    const anvil = await startAnvil();
    // So many that the first of them, with every shape of trace, are never replaced.
    const traffic = await createTraffic({ url: anvil.url, seed: 1 });
    await traffic.run({ steps: SCRIPT_BLOCKS + STABLE_DEPTH });
    const nodes = await Promise.all(Array.from({ length: NODES }, () => startLyingNode(anvil.url)));
    return new Nodes(anvil, nodes, random);
  }

  get names(): readonly string[] {
    return this.urls.map((_, i) => `node ${i + 1}`);
  }

  /** New blocks all the time; reorganisations, one after the other, where they are due. */
  async grow(isOver: () => boolean): Promise<void> {
    const traffic = await createTraffic({ url: this.anvil.url, seed: 2 });
    await this.every.record();
    for (let seed = 3; !isOver(); seed++) {
      if (this.#reorganisations > 0) {
        this.#reorganisations--;
        const depth = this.#random.between(1, STABLE_DEPTH / 2);
        this.every.replaced(depth);
        await rebuildTail(this.anvil.url, { depth, blocks: depth + this.#random.below(3), seed });
      } else await traffic.step();
      await this.every.record();
      await pause(BETWEEN_BLOCKS_MS);
    }
  }

  reorganise(): void {
    this.#reorganisations++;
  }

  /** Nobody listens at the node's address. */
  async die(i: number, ms: number): Promise<void> {
    const node = this.#nodes[i];
    if (node === undefined) return;
    await node.stop();
    await pause(ms);
    this.#nodes[i] = await startLyingNode(this.anvil.url, Number(new URL(node.url).port));
  }

  /** The node takes requests and answers none. */
  async hang(i: number, ms: number): Promise<void> {
    await this.#during(i, { slowness: pause(ms) }, ms);
  }

  async slow(i: number, ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) await this.#during(i, { slowness: pause(SLOW_MS) }, SLOW_MS / 2);
  }

  async lie(i: number, ms: number): Promise<void> {
    await this.#during(i, { lie }, ms);
  }

  async breakOff(i: number, ms: number): Promise<void> {
    await this.#during(
      i,
      { fault: (response, text) => response.write(text.slice(0, 40), () => response.destroy()) },
      ms,
    );
  }

  /** The process of the chain itself is stopped: all nodes hang. */
  async stopAll(ms: number): Promise<void> {
    process.kill(this.anvil.pid, 'SIGSTOP');
    await pause(ms);
    process.kill(this.anvil.pid, 'SIGCONT');
  }

  async #during(i: number, trouble: Partial<LyingNode>, ms: number): Promise<void> {
    const node = this.#nodes[i];
    if (node === undefined) return;
    Object.assign(node, trouble);
    await pause(ms);
    Object.assign(node, { slowness: undefined, lie: undefined, fault: undefined });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await this.anvil.stop();
  }
}

/**
 * What a node can be found out by: blocks that are not what their hash says, traces that are not all of their block. What
 * cannot be checked, a balance say, is one node's word (docs/gateway.md), and no lie here.
 */
function lie({ method, result }: Answered): unknown {
  if (method === 'trace_block' && Array.isArray(result)) return result.slice(0, -1);
  const isBlock = method.startsWith('eth_getBlockBy') && typeof result === 'object' && result !== null;
  return isBlock && 'stateRoot' in result ? { ...result, stateRoot: `0x${'ab'.repeat(32)}` } : result;
}
