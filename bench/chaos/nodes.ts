import { setTimeout as pause } from 'node:timers/promises';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../../test/support/anvil.ts';
import type { Random } from '../../test/support/random.ts';
import { type AnsweredCall, type FaultyNode, startFaultyNode } from '../../test/traces/support/faultyNode.ts';
import { rebuildTail } from '../../test/traces/support/rebuildTail.ts';
import { EveryBlock } from './everyBlock.ts';
import { STABLE_DEPTH } from './stableChain.ts';

const NODES = 3;
const BETWEEN_BLOCKS_MS = 400;
const SLOW_MS = 600;

/** Several nodes with one chain, each with its own faults: proxies in front of one real node. */
export class Nodes {
  readonly anvil: Anvil;
  readonly urls: readonly string[];
  readonly every: EveryBlock;
  readonly #nodes: FaultyNode[];
  readonly #random: Random;
  #reorganisations = 0;

  private constructor(anvil: Anvil, nodes: FaultyNode[], random: Random) {
    this.anvil = anvil;
    this.every = new EveryBlock(anvil.url);
    this.#nodes = nodes;
    this.#random = random;
    this.urls = nodes.map(({ url }) => url);
  }

  static async start(random: Random): Promise<Nodes> {
    const anvil = await startAnvil();
    // Enough blocks to keep the scripted ones, which have every shape of trace, below any reorganisation.
    const traffic = await createTraffic({ url: anvil.url, seed: 1 });
    await traffic.run({ steps: SCRIPT_BLOCKS + STABLE_DEPTH });
    const nodes = await Promise.all(Array.from({ length: NODES }, () => startFaultyNode(anvil.url)));
    return new Nodes(anvil, nodes, random);
  }

  get names(): readonly string[] {
    return this.urls.map((_, i) => `node ${i + 1}`);
  }

  /** Adds blocks continuously, and executes requested reorganisations one by one. */
  async grow(isFinished: () => boolean): Promise<void> {
    const traffic = await createTraffic({ url: this.anvil.url, seed: 2 });
    await this.every.record();
    for (let seed = 3; !isFinished(); seed++) {
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

  /** Closes the node's port. */
  async die(i: number, ms: number): Promise<void> {
    const node = this.#nodes[i];
    if (node === undefined) return;
    await node.stop();
    await pause(ms);
    this.#nodes[i] = await startFaultyNode(this.anvil.url, Number(new URL(node.url).port));
  }

  /** The node accepts requests without responding. */
  async hang(i: number, ms: number): Promise<void> {
    await this.#during(i, { delay: pause(ms) }, ms);
  }

  async slow(i: number, ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) await this.#during(i, { delay: pause(SLOW_MS) }, SLOW_MS / 2);
  }

  async lie(i: number, ms: number): Promise<void> {
    await this.#during(i, { replaceResult: lie }, ms);
  }

  async breakOff(i: number, ms: number): Promise<void> {
    await this.#during(
      i,
      { replaceResponse: (response, text) => response.write(text.slice(0, 40), () => response.destroy()) },
      ms,
    );
  }

  /** Stops the process of the chain, so that all nodes hang. */
  async stopAll(ms: number): Promise<void> {
    process.kill(this.anvil.pid, 'SIGSTOP');
    await pause(ms);
    process.kill(this.anvil.pid, 'SIGCONT');
  }

  async #during(i: number, trouble: Partial<FaultyNode>, ms: number): Promise<void> {
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
 * Changes a result in a detectable way: a block that does not match its hash, or incomplete traces. Results that
 * cannot be verified, such as a balance, are trusted (docs/reference/multiple-nodes.md) and not changed here.
 */
function lie({ method, result }: AnsweredCall): unknown {
  if (method === 'trace_block' && Array.isArray(result)) return result.slice(0, -1);
  const isBlock = method.startsWith('eth_getBlockBy') && typeof result === 'object' && result !== null;
  return isBlock && 'stateRoot' in result ? { ...result, stateRoot: `0x${'ab'.repeat(32)}` } : result;
}
