import { connect, type Node } from '../../src/devchain/index.ts';
import { parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import { rest } from './tally.ts';

const RECORD_TIMEOUT_MS = 10_000;
const BETWEEN_LOOKS_MS = 20;

/** A block that the chain has, or had. */
export interface RecordedBlock {
  readonly hash: string;
  readonly number: number;
  /** How many blocks the chain had before, replaced ones included. */
  readonly order: number;
  /** The node's answers for it, as JSON. */
  readonly block: string;
  readonly traces: string;
  /** When it was replaced; undefined for one that the chain has. */
  replacedAtMs?: number;
}

/** Every block that the chain ever had, as the node told it: what is answered of a block that was replaced was once right. */
export class EveryBlock {
  readonly #node: Node;
  readonly #byHash = new Map<string, RecordedBlock>();
  /** The chain as it is now, by number. */
  readonly #chain: RecordedBlock[] = [];

  constructor(url: string) {
    this.#node = connect(url);
  }

  get head(): number {
    return this.#chain.length - 1;
  }

  /** Reads what the chain has grown by. */
  async record(): Promise<void> {
    const head = Number(await this.#node.call<string>('eth_blockNumber'));
    for (let number = this.#chain.length; number <= head; number++) {
      const at = `0x${number.toString(16)}`;
      const [block, traces] = await this.#node.batch([
        ['eth_getBlockByNumber', at, false],
        ['trace_block', at],
      ]);
      const { hash } = block as { hash: string }; // the node has it, as its head is above
      const ofBlock = JSON.stringify(parseTraceBlock(traces));
      const order = this.#byHash.size;
      const recorded = { hash, number, order, block: JSON.stringify(block), traces: ofBlock };
      this.#byHash.set(hash, recorded);
      this.#chain.push(recorded);
    }
  }

  /** The last blocks are replaced from this moment on. */
  replaced(blocks: number): void {
    const now = performance.now();
    for (const block of this.#chain.splice(-blocks)) block.replacedAtMs = now;
  }

  /** The block with a hash; undefined where the chain never had it. One that was made just now is waited for. */
  async find(hash: string): Promise<RecordedBlock | undefined> {
    const deadline = performance.now() + RECORD_TIMEOUT_MS;
    for (;;) {
      const block = this.#byHash.get(hash);
      if (block !== undefined || performance.now() > deadline) return block;
      await rest(BETWEEN_LOOKS_MS);
    }
  }
}
