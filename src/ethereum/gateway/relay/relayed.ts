import { type Result, type ResultSink, type ResultStream, RpcError } from '../../jsonrpc/index.ts';
import {
  type Answered,
  ArrivalRoom,
  FailedRequestError,
  type FaultOfSize,
  NODE_REQUEST_ID,
  NODES_TO_FAIL_REQUEST,
  type NodeAnswer,
  NodeError,
  NoRoomError,
  neverSent,
  OtherForkError,
  OversizedAnswerError,
} from '../../nodes/index.ts';
import type { CallContext, Handler } from '../method.ts';
import { isTag } from '../methods/kinds.ts';
import type { RelayedRow } from '../methods/row.ts';
import { noRoom } from '../noRoom.ts';
import { saysBlockIsGone } from './blockGone.ts';
import { chainStateOf } from './chainStateOf.ts';
import { judge } from './judge.ts';
import { foundIn, type Lifetime, lifetimeOf } from './lifetime.ts';
import type { Network } from './network.ts';
import { pinBlock } from './pinBlock.ts';
import { refusalOf } from './refusalOf.ts';
import { resolveTags } from './resolveTags.ts';
import { resultStream } from './resultStream.ts';
import { isAlreadyKnown, sentTransactionHash } from './sentTransaction.ts';

/** Answers above this are not worth their room. */
const MAX_CACHED_BYTES = 1024 * 1024;

/** A reorganisation takes the head back once, seldom again while a request runs. */
const MAX_HEAD_LOOKUPS = 3;

/** An answer that was shared with others who asked the same meanwhile. */
type Shared = { readonly node: string; readonly answer: NodeAnswer };

/** A request on its way to the nodes. */
interface Asked {
  /** What it is remembered by where it fails by its own fault; it is not where this is left out. */
  readonly key?: string;
  readonly params: readonly unknown[];
  readonly lifetime: Lifetime;
  readonly mayStream: boolean;
  readonly failedBefore?: FailedRequestError | undefined;
  /** Room for what arrives; left out where an answer must not fail for want of it. */
  readonly room?: ArrivalRoom;
}

/** The handler of a method that the nodes of a network answer. Parameters are canonical. */
export function relayed(row: RelayedRow, network: Network): Handler {
  const relay = new Relay(row, network);
  return (params, context) => relay.handle(params, context);
}

class Relay {
  readonly #row: RelayedRow;
  readonly #network: Network;
  readonly #cacheResults: ReturnType<Network['metrics']['cacheResults']>;
  /** Requests under way, by their key: the same asked for again waits for their answer. */
  readonly #underWay = new Map<string, Promise<Shared | undefined>>();

  constructor(row: RelayedRow, network: Network) {
    this.#row = row;
    this.#network = network;
    this.#cacheResults = network.metrics.cacheResults(network.name, row.name);
  }

  handle(read: readonly unknown[], context: CallContext): Promise<Result> | Result {
    const resolved = resolveTags(this.#row, read, this.#network.pool);
    const answer =
      resolved instanceof Promise
        ? resolved.then((params) => this.#answer(params, context))
        : this.#answer(resolved, context);
    // What is kept is answered at once, and a single node's head is wherever it is.
    if (!(answer instanceof Promise) || (this.#network.pool.isSingle && resolved === read)) return answer;
    return this.#followHead(read, resolved, answer, context);
  }

  /**
   * An answer of the head of the moment. Where the nodes have left that before they answered, all of them tell of another
   * fork, and where a tag was replaced or a block pinned none may have the block that it stood for: then the nodes are asked
   * where they are now, and the request goes to them again.
   */
  async #followHead(
    read: readonly unknown[],
    resolved: readonly unknown[] | Promise<readonly unknown[]>,
    first: Promise<Result>,
    context: CallContext,
  ): Promise<Result> {
    const { pool } = this.#network;
    const hasTags = resolved !== read;
    // What is resolved in time are ranges of logs, which name no single block.
    let isPinned = !(resolved instanceof Promise) && this.#pin(resolved) !== undefined;
    let answer: Promise<Result> | Result = first;
    for (let left = MAX_HEAD_LOOKUPS; ; left--) {
      try {
        const result = await answer;
        if (left === 0 || !hasTags || this.#row.isBlockItself !== true || !isNull(result)) return result;
      } catch (error) {
        const isGone = (hasTags || isPinned) && error instanceof RpcError && saysBlockIsGone(error);
        if (left === 0 || !(isGone || isOtherFork(error))) throw error;
      }
      const asked = pool.nodes.filter(({ standing }) => standing === 'good');
      await Promise.all(asked.map((node) => pool.refresh(node)));
      const params = await resolveTags(this.#row, read, pool);
      isPinned = this.#pin(params) !== undefined;
      answer = this.#answer(params, context);
    }
  }

  #pin(params: readonly unknown[]): readonly unknown[] | undefined {
    const { pool } = this.#network;
    // A single node is wherever it is.
    return pool.isSingle ? undefined : pinBlock(this.#row, params, pool.heads);
  }

  #answer(params: readonly unknown[], context: CallContext): Promise<Result> | Result {
    const { scope } = this.#row;
    const { pool } = this.#network;
    if (scope.of === 'head' && !pool.isSingle) return this.#head(context);
    const key = this.#row.name + JSON.stringify(params);
    const lifetime = lifetimeOf(this.#row, params);
    const kept = lifetime === 'never' ? undefined : this.#kept(key, lifetime);
    if (kept !== undefined) {
      context.cache = 'hit';
      this.#cacheResults.hit.inc();
      return kept;
    }
    return this.#row.once === true
      ? this.#askOnce(params, context)
      : this.#ask(key, params, lifetime, context);
  }

  /** With several nodes the head is what all of them together say. */
  #head(context: CallContext): Result {
    const { heads, nodes } = this.#network.pool;
    if (heads.latest === undefined || !nodes.some(({ standing }) => standing === 'good')) throw noNode();
    context.cache = 'hit';
    this.#cacheResults.hit.inc();
    return Buffer.from(`"0x${heads.latest.number.toString(16)}"`);
  }

  #kept(key: string, lifetime: Lifetime): Buffer | undefined {
    const { cache } = this.#network;
    if (typeof lifetime === 'number' && !this.#isFinal(lifetime)) return cache.getHead(key);
    return cache.getFinal(key) ?? (lifetime === 'found' ? cache.getHead(key) : undefined);
  }

  async #ask(
    key: string,
    params: readonly unknown[],
    lifetime: Lifetime,
    context: CallContext,
  ): Promise<Result> {
    const underWay = this.#underWay.get(key);
    // Without a pause where none is under way: the next entry of the same batch must find this one.
    const shared = underWay === undefined ? undefined : await underWay;
    if (shared !== undefined) {
      context.cache = 'shared';
      context.node = shared.node;
      this.#cacheResults.shared.inc();
      return resultOf(shared.answer);
    }
    const failed = this.#failedBefore(key, params);
    const failedBefore = failed instanceof Promise ? await failed : failed;
    if (failedBefore?.isFinal === true) {
      context.cache = 'hit';
      this.#cacheResults.hit.inc();
      throw refusalOf(failedBefore);
    }
    let share: (answer: Shared | undefined) => void = () => undefined;
    this.#underWay.set(key, new Promise((resolve) => (share = resolve)));
    const room = new ArrivalRoom(context.room);
    try {
      const epoch = this.#network.cache.epoch;
      const answered = await this.#askNodes({
        key,
        params,
        lifetime,
        mayStream: context.mayStream,
        failedBefore,
        room,
      });
      context.cache = 'miss';
      context.node = answered.node.name;
      this.#cacheResults.miss.inc();
      if ('stream' in answered) return this.#streamOf(answered, key, params);
      await this.#learn(answered);
      this.#keep(key, answered.answer, lifetime, epoch);
      share({ node: answered.node.name, answer: answered.answer });
      return resultOf(answered.answer);
    } finally {
      room.close();
      this.#underWay.delete(key);
      // Nobody hears of a failure or a stream from another's request: they ask for themselves.
      share(undefined);
    }
  }

  async #askOnce(params: readonly unknown[], context: CallContext): Promise<Result> {
    try {
      const answered = await this.#askNodes({ params, lifetime: 'never', mayStream: false });
      context.node = answered.node.name;
      if ('stream' in answered) throw new Error('a node answered with a stream where none was asked for');
      const { answer } = answered;
      // What the sender wants is so: it sends again what got through before, perhaps by another node.
      if (answer.kind === 'error' && isAlreadyKnown(answer.message))
        return Buffer.from(JSON.stringify(sentTransactionHash(String(params[0]))));
      return resultOf(answer);
    } catch (error) {
      if (!(error instanceof Unanswered) || error.cause === undefined || neverSent(error.cause)) throw error;
      // It may have got through: the sender must look before sending anything else from that account.
      const transactionHash = sentTransactionHash(String(params[0]));
      throw new RpcError(
        'resourceUnavailable',
        'the node broke off after it was sent the transaction, and may have taken it: look for its hash before sending another',
        { transactionHash },
      );
    }
  }

  async #askNodes({ key, params, lifetime, mayStream, failedBefore, room }: Asked): Promise<Answered> {
    const { pool, maxAnswerBytes, timeoutMs } = this.#network;
    const { name, once = false, smallBytes = maxAnswerBytes } = this.#row;
    const head = pool.heads.latest?.number ?? -1;
    const isOfChain = typeof lifetime === 'number' && lifetime <= head;
    // Of tags that are left to the node, and of hashes, only the head's own nodes are sure to know.
    const needsBlock = pool.isSingle ? undefined : isOfChain ? lifetime : head;
    const pinned = this.#pin(params);
    const chainState = chainStateOf(this.#row, params, pool.heads);
    try {
      return await pool.ask({
        method: name,
        body: bodyOf(name, params),
        bodyByHash: pinned && bodyOf(name, pinned),
        needsBlock: needsBlock === -1 ? undefined : needsBlock,
        once,
        mayStream,
        timeoutMs,
        maxBytes: Math.min(maxAnswerBytes, smallBytes),
        faultOfSize: this.#faultOfSize(),
        failedBefore,
        room,
        judge: (answer) => {
          const expectsBlock = isOfChain && this.#row.isBlockItself === true;
          const verdict = judge(this.#row, params, answer, pool.chain?.chainId, expectsBlock);
          return verdict === 'good' && this.#isOfOtherFork(params, answer) ? 'otherFork' : verdict;
        },
      });
    } catch (error) {
      if (error instanceof NoRoomError) throw noRoom();
      if (error instanceof FailedRequestError) {
        if (key !== undefined) this.#rememberFailed(key, params, chainState, error);
        throw refusalOf(error);
      }
      if (error instanceof NodeError) throw new Unanswered(error);
      throw error;
    }
  }

  #faultOfSize(): FaultOfSize {
    const { smallBytes, once } = this.#row;
    // What is carried out once may have been, whatever the node answers: that is no refusal.
    if (once === true) return 'node';
    if (smallBytes === undefined) return 'request';
    return smallBytes <= this.#network.maxAnswerBytes ? 'node' : 'unclear';
  }

  /** How the same request has failed lately by its own fault; at once where none has. */
  #failedBefore(
    key: string,
    params: readonly unknown[],
  ): FailedRequestError | undefined | Promise<FailedRequestError | undefined> {
    const { pool, failedRequests } = this.#network;
    if (failedRequests.size === 0) return undefined;
    const remembered = (): FailedRequestError | undefined =>
      failedRequests.get(key, chainStateOf(this.#row, params, pool.heads));
    const failed = remembered();
    const [node] = pool.nodes;
    const { scope } = this.#row;
    // The head of a single node, which says itself what its tags mean, may have moved since it was polled.
    if (failed === undefined || node === undefined || !pool.isSingle) return failed;
    if (scope.of !== 'block' || !isTag(params[scope.param])) return failed;
    return pool.refresh(node).then(remembered);
  }

  #rememberFailed(
    key: string,
    params: readonly unknown[],
    chainState: string | undefined,
    error: FailedRequestError,
  ): void {
    const { pool, failedRequests } = this.#network;
    // Everything else costs a node next to nothing.
    if (!(error.cause instanceof OversizedAnswerError)) return;
    // Where the chain has moved on meanwhile, nobody knows of which state the failure is.
    if (chainState !== undefined && chainState === chainStateOf(this.#row, params, pool.heads))
      failedRequests.put(key, chainState, error);
  }

  /** A result while it arrives. Where it turns out to be too large it breaks off, and whoever asks again is refused. */
  #streamOf(
    { node, stream, failedAt }: Extract<Answered, { stream: unknown }>,
    key: string,
    params: readonly unknown[],
  ): ResultStream {
    const { pool } = this.#network;
    const { name } = this.#row;
    const result = resultStream(stream, node.connection.host);
    if (result === undefined) {
      stream.abort();
      throw noNode();
    }
    const chainState = chainStateOf(this.#row, params, pool.heads);
    const broke = (error: Error): void => {
      if (!(error instanceof OversizedAnswerError)) return;
      if (this.#faultOfSize() === 'node') return pool.failed(node, name, error);
      pool.failedRequest(node, name, error);
      const nodes = [...failedAt, node];
      const isFinal = pool.isSingle || nodes.length >= NODES_TO_FAIL_REQUEST;
      this.#rememberFailed(key, params, chainState, new FailedRequestError(error, nodes, isFinal));
    };
    return { ...result, pipe: (sink) => result.pipe(watched(sink, broke)) };
  }

  /** Whether an answer is of another block than the head's chain has at that height. */
  #isOfOtherFork(params: readonly unknown[], answer: NodeAnswer): boolean {
    const { pool } = this.#network;
    if (pool.isSingle || answer.kind !== 'result') return false;
    for (const { number, hash } of this.#row.blocksIn?.(params, answer.value) ?? [])
      if ((pool.heads.hashOf(number) ?? hash) !== hash) return true;
    return false;
  }

  /** A block that a node tells of and the head has not come to is the head's next: the reader may ask for it now. */
  async #learn({ node, answer }: Extract<Answered, { answer: NodeAnswer }>): Promise<void> {
    const { pool } = this.#network;
    if (pool.isSingle || answer.kind !== 'result') return;
    const number = foundIn(this.#row, answer.value);
    if (number !== undefined && number > (pool.heads.latest?.number ?? number)) await pool.refresh(node);
  }

  #keep(key: string, answer: NodeAnswer, lifetime: Lifetime, epoch: number): void {
    if (lifetime === 'never' || answer.kind === 'error' || answer.value === null) return;
    if (answer.bytes.length > MAX_CACHED_BYTES) return;
    const { cache } = this.#network;
    const block = lifetime === 'found' ? foundIn(this.#row, answer.value) : lifetime;
    if (block === undefined) return;
    // The bytes are a part of a larger buffer: what is kept must not keep that alive.
    const kept = Buffer.from(answer.bytes);
    if (block === 'constant' || this.#isFinal(block as number)) cache.putFinal(key, kept);
    else cache.putHead(key, kept, epoch);
  }

  #isFinal = (block: number): boolean => block <= (this.#network.pool.heads.finalized ?? -1);
}

const bodyOf = (method: string, params: readonly unknown[]): string =>
  `{"jsonrpc":"2.0","id":${NODE_REQUEST_ID},"method":"${method}","params":${JSON.stringify(params)}}`;

/** No node gave an answer; the cause is the last one's failure. */
class Unanswered extends RpcError {
  override readonly cause: NodeError | undefined;

  constructor(cause?: NodeError) {
    super('resourceUnavailable', 'no node can answer now; try again');
    this.cause = cause;
  }
}

/** Whether the last node that was asked told of another fork than the head's. */
const isOtherFork = (error: unknown): boolean =>
  error instanceof Unanswered && error.cause instanceof OtherForkError;

const isNull = (result: Result): boolean => result instanceof Uint8Array && Buffer.from(result).equals(NULL);
const NULL = Buffer.from('null');

const noNode = (): RpcError => new Unanswered();

function resultOf(answer: NodeAnswer): Buffer {
  if (answer.kind === 'result') return answer.bytes;
  // The node's own error, its code kept: clients tell a reverted call from a bad parameter by it.
  throw new RpcError(answer.code, answer.message, answer.data);
}

/** A sink that tells, too, how its result broke off. */
const watched = (sink: ResultSink, broke: (error: Error) => void): ResultSink => ({
  write: (piece) => sink.write(piece),
  end: () => sink.end(),
  fail(error) {
    broke(error);
    sink.fail(error);
  },
});
