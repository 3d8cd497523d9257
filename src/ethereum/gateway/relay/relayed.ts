import { type Result, RpcError } from '../../jsonrpc/index.ts';
import type { CallContext, Handler } from '../method.ts';
import type { RelayedRow } from '../methods/row.ts';
import { isBlockMissingError } from './blockMissingError.ts';
import { CachedRelay } from './cachedRelay.ts';
import { highestBlockIn } from './cachePolicy.ts';
import type { Network } from './network.ts';
import { isOtherForkError } from './noResponseError.ts';
import { resolveTags } from './resolveTags.ts';
import { UpstreamSender } from './upstreamSender.ts';

/** Maximum number of retries after head changes. A second reorg during one request is rare. */
const MAX_HEAD_LOOKUPS = 3;

/** Returns the handler of a method that is relayed to nodes. The handler receives canonical parameters. */
export function relayed(row: RelayedRow, network: Network): Handler {
  const relay = new Relay(row, network);
  return (params, context) => relay.handle(params, context);
}

interface HeadRequest {
  readonly read: readonly unknown[];
  /** Parameters with block tags replaced by block numbers. */
  readonly resolved: readonly unknown[] | Promise<readonly unknown[]>;
  readonly context: CallContext;
}

/** Relays the requests of one method. If the head is replaced while a request runs, the request is sent again. */
class Relay {
  readonly #row: RelayedRow;
  readonly #network: Network;
  readonly #sender: UpstreamSender;
  readonly #relay: CachedRelay;

  constructor(row: RelayedRow, network: Network) {
    this.#row = row;
    this.#network = network;
    this.#sender = new UpstreamSender(row, network);
    this.#relay = new CachedRelay(row, network, this.#sender);
  }

  handle(read: readonly unknown[], context: CallContext): Promise<Result> | Result {
    return this.#isAboveHead(read)
      ? this.#network.pool.catchUp().then(() => this.#answer(read, context))
      : this.#answer(read, context);
  }

  /** Returns true for a block number above the head that this process knows. The polling process may know more. */
  #isAboveHead(params: readonly unknown[]): boolean {
    const { pool } = this.#network;
    if (!pool.isFollower || pool.isSingle) return false;
    return highestBlockIn(this.#row, params) > (pool.heads.latest?.number ?? -1);
  }

  #answer(read: readonly unknown[], context: CallContext): Promise<Result> | Result {
    const resolved = this.#resolve(read, context);
    const answer =
      resolved instanceof Promise
        ? resolved.then((params) => this.#relay.answer(params, context))
        : this.#relay.answer(resolved, context);
    // A cached result is valid for the current head, so it needs no retry. Neither does a result of a single node,
    // unless the gateway replaced tags.
    if (!(answer instanceof Promise) || (this.#network.pool.isSingle && resolved === read)) return answer;
    return this.#retryOnReorg({ read, resolved, context }, answer);
  }

  #resolve(read: readonly unknown[], { limits }: CallContext): ReturnType<typeof resolveTags> {
    return resolveTags(this.#row, read, { pool: this.#network.pool, logsBlocks: limits.logsBlocks });
  }

  /**
   * Waits for a result, and sends the request again if a reorg has invalidated it. The heads are refreshed before each
   * retry, because after a reorg possibly no node has the block of the request any more.
   */
  async #retryOnReorg({ read, resolved, context }: HeadRequest, first: Promise<Result>): Promise<Result> {
    const { pool } = this.#network;
    const hasTags = resolved !== read;
    // A promise belongs to a log range, which contains no block to replace by its hash, or to a request that waits
    // for a healthy node.
    let isPinned = !(resolved instanceof Promise) && this.#sender.pin(resolved) !== undefined;
    let answer: Promise<Result> | Result = first;
    for (let left = MAX_HEAD_LOOKUPS; ; left--) {
      try {
        const result = await answer;
        if (left === 0 || !hasTags || this.#row.isBlockItself !== true || !isNull(result)) return result;
      } catch (error) {
        const isGone = (hasTags || isPinned) && error instanceof RpcError && isBlockMissingError(error);
        if (left === 0 || !(isGone || isOtherForkError(error))) throw error;
      }
      const asked = pool.nodes.filter(({ health }) => health === 'healthy');
      await Promise.all(asked.map((node) => pool.refresh(node)));
      const params = await this.#resolve(read, context);
      isPinned = this.#sender.pin(params) !== undefined;
      answer = this.#relay.answer(params, context);
    }
  }
}

const isNull = (result: Result): boolean => result instanceof Uint8Array && Buffer.from(result).equals(NULL);
const NULL = Buffer.from('null');
