import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError } from '../../../nodes/index.ts';
import type { Hash, MaybePromise, TraceReader } from '../../../traces/index.ts';
import type { Caller, IndexServices } from '../traces/indexServices.ts';
import { ensureIndexed, followChain, resolveHeads } from './fromIndex.ts';
import { storeFor } from './fromNodes.ts';

/** Maximum number of block hashes whose block number is remembered. Each needs about 100 bytes. */
const MAX_KNOWN_NUMBERS = 4096;

/** Reads indexed blocks by hash. The index is ordered by number, so nodes are asked for the number of a hash. */
export class BlocksByHash {
  readonly #services: IndexServices;
  /** Block numbers by block hash. The number of a hash never changes, not even in a reorg. */
  readonly #numbers = new Map<Hash, number>();

  constructor(services: IndexServices) {
    this.#services = services;
  }

  /** Calls `read` with the number of a block. `read` returns undefined if the block is missing. Throws RpcError. */
  async read<T>(
    hash: Hash,
    caller: Caller,
    read: (blockNumber: number, store: TraceReader) => MaybePromise<T | undefined>,
  ): Promise<T> {
    const { indexer } = this.#services;
    const store = storeFor(this.#services, caller);
    const blockNumber = this.#numbers.get(hash) ?? (await this.#find(hash));
    const { head } = await resolveHeads(this.#services, [blockNumber]);
    const wanted = { fromBlock: blockNumber, toBlock: blockNumber, caller };
    if (blockNumber <= head) {
      const indexed = await read(blockNumber, store);
      if (indexed !== undefined) return this.#remember(hash, blockNumber, indexed);
      await ensureIndexed(indexer, wanted);
      let found = await read(blockNumber, store);
      if (found === undefined) {
        await followChain(this.#services, caller);
        found = await read(blockNumber, store);
      }
      if (found !== undefined) return this.#remember(hash, blockNumber, found);
    }
    throw new RpcError(
      'resourceNotFound',
      `block ${hash} is not in the indexed chain: block ${blockNumber} has another hash or does not exist`,
      { blockHash: hash, blockNumber },
    );
  }

  async #find(hash: Hash): Promise<number> {
    const block = await this.#services.finder.blockOfHash(hash).catch((error: unknown) => {
      if (!(error instanceof NodeError)) throw error;
      throw new NoNodeError('no node returned the block with this hash; try again');
    });
    if (block !== undefined) return block.number;
    throw new RpcError('resourceNotFound', `no node knows block ${hash}`, { blockHash: hash });
  }

  #remember<T>(hash: Hash, blockNumber: number, read: T): T {
    const [oldest] = this.#numbers.keys();
    if (oldest !== undefined && this.#numbers.size >= MAX_KNOWN_NUMBERS) this.#numbers.delete(oldest);
    this.#numbers.set(hash, blockNumber);
    return read;
  }
}
