import type { Span } from '../../../platform/spans/index.ts';
import { RateLimitedError, type ResultSink, type ResultStream } from '../../jsonrpc/index.ts';
import {
  type ArrivalRoom,
  BudgetExceededError,
  FailedRequestError,
  type FaultOfSize,
  type HedgedResponse,
  NODE_REQUEST_ID,
  NODES_TO_FAIL_REQUEST,
  NodeError,
  NoRoomError,
  OversizedAnswerError,
  type ResponseClass,
  type StreamedResponse,
  type UpstreamNode,
  type UpstreamResponse,
} from '../../nodes/index.ts';
import { isTag } from '../methods/kinds.ts';
import type { RelayedRow } from '../methods/row.ts';
import { noRoom } from '../noRoom.ts';
import type { CachePolicy } from './cachePolicy.ts';
import { chainStateOf } from './chainStateOf.ts';
import { classifyResponse } from './classifyResponse.ts';
import type { Network } from './network.ts';
import { pinBlock } from './pinBlock.ts';
import { refusalOf } from './refusalOf.ts';
import { resultStream } from './resultStream.ts';
import { Unanswered } from './unanswered.ts';

/** A request with canonical parameters. */
export interface RelayedRequest {
  /** What it is remembered by where it fails by its own fault; it is not where this is left out. */
  readonly key?: string;
  readonly params: readonly unknown[];
  readonly policy: CachePolicy;
  readonly mayStream: boolean;
  readonly failedBefore?: FailedRequestError | undefined;
  /** Room for what arrives; left out where an answer must not fail for want of it. */
  readonly room?: ArrivalRoom;
  /** Who asks. */
  readonly client?: (() => string) | undefined;
  /** What it is a part of. */
  readonly span?: Span | undefined;
  /** Nobody waits for it. */
  readonly isBackground?: boolean;
  /** Nodes that are not asked; those that are asked are added. */
  readonly tried?: Set<UpstreamNode> | undefined;
}

/** A request with the state of the chain that it was sent in. */
interface RequestOfState {
  readonly key: string;
  readonly params: readonly unknown[];
  readonly chainState: string | undefined;
}

/** Sends requests for one method to the nodes of a network. */
export class UpstreamSender {
  readonly #row: RelayedRow;
  readonly #network: Network;

  constructor(row: RelayedRow, network: Network) {
    this.#row = row;
    this.#network = network;
  }

  /** Rejects with RpcError. */
  async send({
    key,
    params,
    policy,
    mayStream,
    failedBefore,
    room,
    tried,
    client,
    span,
    isBackground = false,
  }: RelayedRequest): Promise<HedgedResponse> {
    const { pool, maxAnswerBytes, timeoutMs } = this.#network;
    const { name, once = false, smallBytes = maxAnswerBytes } = this.#row;
    const head = pool.heads.latest?.number ?? -1;
    const isOfChain = typeof policy === 'number' && policy <= head;
    // Of tags that are left to the node, and of hashes, only the head's own nodes are sure to know.
    const needsBlock = pool.isSingle ? undefined : isOfChain ? policy : head;
    const pinned = this.pin(params);
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
        tried,
        client,
        span,
        isBackground,
        classify: (response) => this.#classify(params, response, isOfChain),
      });
    } catch (error) {
      if (error instanceof NoRoomError) throw noRoom();
      if (error instanceof FailedRequestError) {
        if (key !== undefined) this.#rememberFailed({ key, params, chainState }, error);
        throw refusalOf(error);
      }
      if (error instanceof BudgetExceededError) throw this.#overBudget(error);
      if (error instanceof NodeError) throw new Unanswered(error);
      throw error;
    }
  }

  #overBudget({ retryAfterMs }: BudgetExceededError): RateLimitedError {
    this.#network.metrics.limited('node_budget');
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    return new RateLimitedError('the nodes may take no more calls now; try again', seconds);
  }

  /** Parameters with the block named by its hash; undefined where it is not. */
  pin(params: readonly unknown[]): readonly unknown[] | undefined {
    const { pool } = this.#network;
    // A single node is wherever it is.
    return pool.isSingle ? undefined : pinBlock(this.#row, params, pool.heads);
  }

  /** How the same request has failed lately by its own fault; at once where none has. */
  failedBefore(
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

  /** A result while it arrives. Where it turns out to be too large it breaks off, and whoever asks again is refused. */
  resultOf(
    { node, stream, failedAt }: StreamedResponse,
    key: string,
    params: readonly unknown[],
  ): ResultStream {
    const { pool } = this.#network;
    const { name } = this.#row;
    const result = resultStream(stream);
    if (result === undefined) {
      stream.abort();
      throw new Unanswered();
    }
    const chainState = chainStateOf(this.#row, params, pool.heads);
    const broke = (error: Error): void => {
      if (!(error instanceof OversizedAnswerError)) return;
      if (this.#faultOfSize() === 'node') return pool.requests.failed(node, name, error);
      pool.requests.failedRequest(node, name, error);
      const nodes = [...failedAt, node];
      const isFinal = pool.isSingle || nodes.length >= NODES_TO_FAIL_REQUEST;
      this.#rememberFailed({ key, params, chainState }, new FailedRequestError(error, nodes, isFinal));
    };
    return { ...result, pipe: (sink) => result.pipe(watched(sink, broke)) };
  }

  #faultOfSize(): FaultOfSize {
    const { smallBytes, once, isExtra } = this.#row;
    if (isExtra === true) return 'request';
    // What is carried out once may have been, whatever the node answers: that is no refusal.
    if (once === true) return 'node';
    if (smallBytes === undefined) return 'request';
    return smallBytes <= this.#network.maxAnswerBytes ? 'node' : 'unclear';
  }

  #classify(params: readonly unknown[], response: UpstreamResponse, isOfChain: boolean): ResponseClass {
    const { chainId } = this.#network.pool;
    const expectsBlock = isOfChain && this.#row.isBlockItself === true;
    const found = classifyResponse({ row: this.#row, params, chainId, expectsBlock }, response);
    return found === 'good' && this.#isOfOtherFork(params, response) ? 'otherFork' : found;
  }

  /** Whether an answer is of another block than the head's chain has at that height. */
  #isOfOtherFork(params: readonly unknown[], response: UpstreamResponse): boolean {
    const { pool } = this.#network;
    if (pool.isSingle || response.kind !== 'result') return false;
    for (const { number, hash } of this.#row.blocksIn?.(params, response.value) ?? [])
      if ((pool.heads.hashOf(number) ?? hash) !== hash) return true;
    return false;
  }

  #rememberFailed({ key, params, chainState }: RequestOfState, error: FailedRequestError): void {
    const { pool, failedRequests } = this.#network;
    // Everything else costs a node next to nothing.
    if (!(error.cause instanceof OversizedAnswerError)) return;
    // Where the chain has moved on meanwhile, nobody knows of which state the failure is.
    if (chainState !== undefined && chainState === chainStateOf(this.#row, params, pool.heads))
      failedRequests.put(key, chainState, error);
  }
}

const bodyOf = (method: string, params: readonly unknown[]): string =>
  `{"jsonrpc":"2.0","id":${NODE_REQUEST_ID},"method":"${method}","params":${JSON.stringify(params)}}`;

/** A sink that tells, too, how its result broke off. */
const watched = (sink: ResultSink, broke: (error: Error) => void): ResultSink => ({
  write: (piece) => sink.write(piece),
  end: () => sink.end(),
  fail(error) {
    broke(error);
    sink.fail(error);
  },
});
