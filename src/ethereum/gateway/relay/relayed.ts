import { type Result, RpcError } from '../../jsonrpc/index.ts';
import type { CallContext, Handler } from '../method.ts';
import type { RelayedRow } from '../methods/row.ts';
import { saysBlockIsGone } from './blockGone.ts';
import { CachedRelay } from './cachedRelay.ts';
import type { Network } from './network.ts';
import { resolveTags } from './resolveTags.ts';
import { isOtherFork } from './unanswered.ts';
import { UpstreamSender } from './upstreamSender.ts';

/** A reorganisation takes the head back once, seldom again while a request runs. */
const MAX_HEAD_LOOKUPS = 3;

/** The handler of a method that the nodes of a network answer. Parameters are canonical. */
export function relayed(row: RelayedRow, network: Network): Handler {
  const relay = new Relay(row, network);
  return (params, context) => relay.handle(params, context);
}

/** A request of the head of the moment. */
interface HeadRequest {
  /** Its parameters as they were read, */
  readonly read: readonly unknown[];
  /** and with the blocks that their tags stand for. */
  readonly resolved: readonly unknown[] | Promise<readonly unknown[]>;
  readonly context: CallContext;
}

/** Answers requests of the head of the moment, and again where the chain has left that meanwhile. */
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
    const resolved = resolveTags(this.#row, read, this.#network.pool);
    const answer =
      resolved instanceof Promise
        ? resolved.then((params) => this.#relay.answer(params, context))
        : this.#relay.answer(resolved, context);
    // What is cached is answered at once, and a single node's head is wherever it is.
    if (!(answer instanceof Promise) || (this.#network.pool.isSingle && resolved === read)) return answer;
    return this.#followHead({ read, resolved, context }, answer);
  }

  /**
   * An answer of the head of the moment. Where the nodes have left that before they answered, all of them tell of another
   * fork, and where a tag was replaced or a block pinned none may have the block that it stood for: then the nodes are asked
   * where they are now, and the request goes to them again.
   */
  async #followHead({ read, resolved, context }: HeadRequest, first: Promise<Result>): Promise<Result> {
    const { pool } = this.#network;
    const hasTags = resolved !== read;
    // What is resolved in time are ranges of logs, which name no single block.
    let isPinned = !(resolved instanceof Promise) && this.#sender.pin(resolved) !== undefined;
    let answer: Promise<Result> | Result = first;
    for (let left = MAX_HEAD_LOOKUPS; ; left--) {
      try {
        const result = await answer;
        if (left === 0 || !hasTags || this.#row.isBlockItself !== true || !isNull(result)) return result;
      } catch (error) {
        const isGone = (hasTags || isPinned) && error instanceof RpcError && saysBlockIsGone(error);
        if (left === 0 || !(isGone || isOtherFork(error))) throw error;
      }
      const asked = pool.nodes.filter(({ health }) => health === 'healthy');
      await Promise.all(asked.map((node) => pool.refresh(node)));
      const params = await resolveTags(this.#row, read, pool);
      isPinned = this.#sender.pin(params) !== undefined;
      answer = this.#relay.answer(params, context);
    }
  }
}

const isNull = (result: Result): boolean => result instanceof Uint8Array && Buffer.from(result).equals(NULL);
const NULL = Buffer.from('null');
