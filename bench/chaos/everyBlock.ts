import { connect, type Node } from '../../src/devchain/index.ts';
import { parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import { rest } from './tally.ts';

const RECORD_TIMEOUT_MS = 10_000;
const BETWEEN_LOOKS_MS = 20;

/** A block that the chain has or had. */
export interface RecordedBlock {
  readonly hash: string;
  readonly number: number;
  /** Number of blocks recorded before, including replaced ones. */
  readonly order: number;
  /** The node's results for the block, as JSON. */
  readonly block: string;
  readonly traces: string;
  /** Time at which the block was replaced; undefined if it is in the chain. */
  replacedAtMs?: number;
}

/** Every block that the chain ever had: an answer from a replaced block was correct once. */
export class EveryBlock {
  readonly #node: Node;
  readonly #byHash = new Map<string, RecordedBlock>();
  /** The current chain, by number. */
  readonly #chain: RecordedBlock[] = [];

  constructor(url: string) {
    this.#node = connect(url);
  }

  get head(): number {
    return this.#chain.length - 1;
  }

  /** Records the new blocks of the chain. */
  async record(): Promise<void> {
    const head = Number(await this.#node.call<string>('eth_blockNumber'));
    for (let number = this.#chain.length; number <= head; number++) {
      const at = `0x${number.toString(16)}`;
      const [block, traces] = await this.#node.batch([
        ['eth_getBlockByNumber', at, false],
        ['trace_block', at],
      ]);
      const { hash } = block as { hash: string }; // the block exists, because it is not above the head
      const ofBlock = JSON.stringify(parseTraceBlock(traces));
      const order = this.#byHash.size;
      const recorded = { hash, number, order, block: JSON.stringify(block), traces: ofBlock };
      this.#byHash.set(hash, recorded);
      this.#chain.push(recorded);
    }
  }

  /** Marks the last blocks as replaced from now on. */
  replaced(blocks: number): void {
    const now = performance.now();
    for (const block of this.#chain.splice(-blocks)) block.replacedAtMs = now;
  }

  /** Returns the block with a hash; waits for a new block to be recorded. Undefined if the chain never had it. */
  async find(hash: string): Promise<RecordedBlock | undefined> {
    const deadline = performance.now() + RECORD_TIMEOUT_MS;
    for (;;) {
      const block = this.#byHash.get(hash);
      if (block !== undefined || performance.now() > deadline) return block;
      await rest(BETWEEN_LOOKS_MS);
    }
  }
}
