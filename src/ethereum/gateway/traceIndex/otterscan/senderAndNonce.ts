import { RpcError } from '../../../jsonrpc/index.ts';
import {
  type Address,
  type BlockRange,
  type Hash,
  type HistoryTransaction,
  type Order,
  transactionOf,
} from '../../../traces/index.ts';
import type { Handler, NodeCall } from '../../method.ts';
import { chainRange, fetchNewest } from '../explorer/blockRange.ts';
import { onOneFork } from '../history/onOneFork.ts';
import { storeFor } from '../traceFilter/fromNodes.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { codeKind, NULL } from './accountCode.ts';
import { framePages, incomplete, MAX_READS_PER_CALL, tooManyFrames } from './findTransactions.ts';
import type { Parts } from './parts.ts';

/**
 * Returns the handler of ots_getTransactionBySenderAndNonce. Its result is a transaction hash, or null.
 *
 * The index does not contain nonces, but the nonces of a sender's transactions ascend along the chain. A bisection over
 * the blocks with the sender's root frames reads one transaction per step from the nodes.
 */
export const otsSenderAndNonce =
  (services: IndexServices, call: NodeCall): Handler =>
  ([sender, nonce], context) =>
    onOneFork(async () => {
      const range = await chainRange(services, { startBlock: 1, endBlock: undefined });
      if (range.fromBlock > range.toBlock) return NULL;
      await fetchNewest(services, range, context);
      // A contract sends no transactions (EIP-3607).
      if ((await codeKind(call, [sender, range.toBlock], context)) === 'contract') return NULL;
      const search = new NonceSearch({ services, call, context, sender: sender as Address }); // validated by the parameter type
      return Buffer.from(JSON.stringify(await search.find(BigInt(String(nonce)), range)));
    });

interface SenderParts extends Parts {
  readonly sender: Address;
}

class NonceSearch {
  readonly #parts: SenderParts;
  /** Pages of all steps that contained only frames below a root. A delegated account (EIP-7702) has such frames. */
  #emptyPages = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Returns the hash of the sender's transaction with this nonce, or null. Throws RpcError if blocks are missing. */
  async find(wanted: bigint, { fromBlock, toBlock }: BlockRange): Promise<Hash | null> {
    // A transaction with the nonce can only be in the blocks from `low` to `high`, because that in `low` has a lower
    // nonce, and that in `above` a higher one.
    let [low, high, above] = [fromBlock, toBlock, toBlock];
    let order: Order = 'desc'; // the first step reads the newest transaction
    let middle = low;
    while (low <= high) {
      const first = await this.#firstIn({ fromBlock: middle, toBlock: high }, order);
      if (first === undefined) high = middle - 1;
      else {
        const nonce = await this.#nonceOf(first);
        if (nonce === wanted) return first.transactionHash;
        if (nonce < wanted && order === 'desc') {
          low = first.blockNumber;
          break;
        }
        if (nonce > wanted) {
          above = first.blockNumber;
          high = order === 'desc' ? above : middle - 1;
        } else if (low === high) {
          const found = await this.#findInBlock(wanted, low);
          if (found !== undefined) return found;
          break;
        } else low = first.blockNumber;
      }
      order = 'asc';
      middle = low + Math.ceil((high - low) / 2);
    }
    await this.#checkComplete({ fromBlock: low, toBlock: Math.max(low, above) });
    return null;
  }

  /** Returns the first root frame of the sender in a range, in the given order. */
  async #firstIn(range: BlockRange, order: Order): Promise<HistoryTransaction | undefined> {
    for await (const { frames } of this.#roots(range, order, 1)) {
      if (frames[0] !== undefined) return frames[0];
      if (++this.#emptyPages === MAX_READS_PER_CALL) throw tooManyFrames();
    }
    return undefined;
  }

  #roots(range: BlockRange, order: Order, limit: number): ReturnType<typeof framePages<HistoryTransaction>> {
    const { services, context, sender } = this.#parts;
    const { nextTurn } = context;
    const filter = { internal: false };
    const query = { ...range, address: sender, direction: 'from', order, filter } as const;
    const store = storeFor(services, context);
    return framePages({ store, nextTurn, decode: transactionOf }, query, limit);
  }

  /** Finds the transaction by bisection over the sender's transactions of one block. */
  async #findInBlock(wanted: bigint, blockNumber: number): Promise<Hash | undefined> {
    const roots: HistoryTransaction[] = [];
    for await (const page of this.#roots({ fromBlock: blockNumber, toBlock: blockNumber }, 'asc', 200))
      roots.push(...page.frames);
    let [low, high] = [0, roots.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const root = roots[middle];
      if (root === undefined) break;
      const nonce = await this.#nonceOf(root);
      if (nonce === wanted) return root.transactionHash;
      if (nonce < wanted) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  async #nonceOf({ transactionHash, blockNumber }: HistoryTransaction): Promise<bigint> {
    const { call, context } = this.#parts;
    const result = await call('eth_getTransactionByHash', [transactionHash], context);
    const { nonce } = (JSON.parse(result.toString()) ?? {}) as { readonly nonce?: unknown };
    if (typeof nonce === 'string' && /^0x[0-9a-f]{1,16}$/i.test(nonce)) return BigInt(nonce);
    throw new RpcError(
      'resourceNotFound',
      `no node returned transaction ${transactionHash} of block ${blockNumber}; try again`,
      { blockNumber },
    );
  }

  async #checkComplete({ fromBlock, toBlock }: BlockRange): Promise<void> {
    const { store } = this.#parts.services;
    const gap =
      (await store.firstMissing(fromBlock, toBlock)) ??
      (await store.unavailable(fromBlock, toBlock, 1))[0]?.number;
    if (gap !== undefined) throw incomplete(gap);
  }
}
