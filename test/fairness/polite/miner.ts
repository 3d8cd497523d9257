import { connect } from '../../support/anvil.ts';
import { type MinedBlock, mineBlock } from '../chain.ts';
import type { Target } from '../target.ts';
import { atRate, type PoliteClient, Watch } from '../watch.ts';

/** Mines a block each second, and keeps a list of them. */
export class Miner {
  readonly blocks: MinedBlock[] = [];
  readonly #client: PoliteClient;

  constructor(target: Target) {
    const node = connect(target.chain.nodeUrl);
    const [sender = ''] = target.chain.senders;
    this.#client = atRate(new Watch('miner'), 1, async () => {
      this.blocks.push(await mineBlock(node, sender));
    });
  }

  /** Throws if a block could not be mined. */
  async stop(limitMs: number): Promise<void> {
    await this.#client.stop(limitMs);
    const { failures, texts } = this.#client.watch.take();
    if (failures > 0) throw new Error(`the node did not mine: ${texts}`);
  }
}
