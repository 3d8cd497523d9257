import { connect, type Node } from '../../src/devchain/index.ts';
import { parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import type { Trace } from '../../src/ethereum/traces/index.ts';

/** Deeper than any reorganisation: blocks this far below the head are permanent. */
export const STABLE_DEPTH = 16;
const BLOCKS_PER_READ = 50;

/** The blocks that are not replaced any more, read from the node. */
export class StableChain {
  readonly #node: Node;
  /** By number, as in `eth_getBlockByNumber` without transactions. */
  readonly blocks: { readonly hash: string; readonly transactions: readonly string[] }[] = [];
  readonly traces: Trace[] = [];
  readonly addresses = new Set<string>();
  /** Index of the first trace of each block. */
  readonly #starts: number[] = [];

  constructor(url: string) {
    this.#node = connect(url);
  }

  /** Number of the highest stable block. */
  get head(): number {
    return this.blocks.length - 1;
  }

  async follow(depth = STABLE_DEPTH): Promise<void> {
    const head = Number(await this.#node.call<string>('eth_blockNumber')) - depth;
    while (this.head < head) {
      const first = this.blocks.length;
      const count = Math.min(BLOCKS_PER_READ, head - this.head);
      const numbers = Array.from({ length: count }, (_, i) => `0x${(first + i).toString(16)}`);
      const blocks = await this.#node.batch<StableChain['blocks'][number]>(
        numbers.map((number) => ['eth_getBlockByNumber', number, false]),
      );
      const traces = await this.#node.batch(numbers.map((number) => ['trace_block', number]));
      for (const [i, answer] of traces.entries()) {
        const own = parseTraceBlock(answer);
        this.#starts.push(this.traces.length);
        this.traces.push(...own);
        const block = blocks[i];
        if (block !== undefined) this.blocks.push(block);
        for (const [address] of JSON.stringify(own).matchAll(/(?<=")0x[0-9a-f]{40}(?=")/g))
          this.addresses.add(address);
      }
    }
  }

  tracesOf(blockNumber: number): readonly Trace[] {
    return this.traces.slice(this.#starts[blockNumber], this.#starts[blockNumber + 1]);
  }
}
