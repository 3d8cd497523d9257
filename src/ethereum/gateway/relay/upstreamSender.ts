import type { BudgetClient } from '../../../platform/budgets/index.ts';
import type { Span } from '../../../platform/spans/index.ts';
import type { ResultSink, ResultStream } from '../../jsonrpc/index.ts';
import {
  FailedRequestError,
  type HedgedResponse,
  NODE_REQUEST_ID,
  NODES_TO_FAIL_REQUEST,
  NodeError,
  type OversizeBlame,
  OversizedResponseError,
  type ReceiveReservation,
  type ResponseClass,
  type StreamedResponse,
  type UpstreamNode,
  type UpstreamRequest,
  type UpstreamResponse,
  type WholeResponse,
} from '../../nodes/index.ts';
import { smallBytesOf } from '../methods/commonParams.ts';
import { isTag } from '../methods/paramTypes.ts';
import type { RelayedRow } from '../methods/row.ts';
import type { CachePolicy } from './cachePolicy.ts';
import { chainStateOf } from './chainStateOf.ts';
import { classifyResponse } from './classifyResponse.ts';
import type { Network } from './network.ts';
import { NoResponseError } from './noResponseError.ts';
import { pinBlock } from './pinBlock.ts';
import { relayErrorOf } from './relayErrorOf.ts';
import { resultStream } from './resultStream.ts';
import type { AcceptedTransactions } from './sending/acceptedTransactions.ts';

/** Maximum time in milliseconds to wait for a second node's response after the first node returned null. */
const MAX_SECOND_OPINION_MS = 2_000;

/** Request to nodes. Its parameters are in canonical form. */
export interface RelayedRequest {
  /** Key under which a failure of the request is remembered. Default: the failure is not remembered. */
  readonly key?: string;
  readonly params: readonly unknown[];
  readonly policy: CachePolicy;
  readonly mayStream: boolean;
  readonly failedBefore?: FailedRequestError | undefined;
  /** Memory budget of the response. Undefined if the response must not be rejected for lack of memory. */
  readonly room?: ReceiveReservation;
  /** Client that waits for the response. Default: all clients. */
  readonly client?: BudgetClient | undefined;
  readonly span?: Span | undefined;
  /** True if no client waits for the response. */
  readonly isBackground?: boolean;
  /** Nodes to skip. Each node to which the request is sent is added to the set. */
  readonly tried?: Set<UpstreamNode> | undefined;
}

/** Request, with an identifier of the chain state at the time when the request was sent. */
interface RequestOfState {
  readonly key: string;
  readonly params: readonly unknown[];
  readonly chainState: string | undefined;
}

export class UpstreamSender {
  readonly #row: RelayedRow;
  readonly #network: Network;

  constructor(row: RelayedRow, network: Network) {
    this.#row = row;
    this.#network = network;
  }

  /** Sends a request to a node. Rejects with RpcError if no node returns a usable response. */
  async send(relayed: RelayedRequest): Promise<HedgedResponse> {
    const { pool } = this.#network;
    const { key, params } = relayed;
    const chainState = chainStateOf(this.#row, params, pool.heads);
    try {
      return await pool.ask(this.#upstreamRequest(relayed));
    } catch (error) {
      if (error instanceof FailedRequestError && key !== undefined)
        this.#rememberFailed({ key, params, chainState }, error);
      throw relayErrorOf(error, this.#network);
    }
  }

  /** Asks a node other than `asked`. Resolves with undefined if there is none, or if it returns an error or null. */
  async askAnother(relayed: RelayedRequest, asked: UpstreamNode): Promise<WholeResponse | undefined> {
    const request = this.#upstreamRequest({ ...relayed, mayStream: false });
    const timeoutMs = Math.min(request.timeoutMs, MAX_SECOND_OPINION_MS);
    try {
      const sent = await this.#network.pool.requests.sendToOther({ ...request, timeoutMs }, asked);
      return sent !== undefined && 'response' in sent && isFound(sent.response) ? sent : undefined;
    } catch (error) {
      // Without a second response, the caller uses the response of the first node.
      if (error instanceof NodeError) return undefined;
      throw error;
    }
  }

  #upstreamRequest({
    params,
    policy,
    mayStream,
    failedBefore,
    room,
    tried,
    client,
    span,
    isBackground = false,
  }: RelayedRequest): UpstreamRequest {
    const { pool, maxAnswerBytes, timeoutMs } = this.#network;
    const { name, once = false } = this.#row;
    const head = pool.heads.latest?.number ?? -1;
    const isOfChain = typeof policy === 'number' && policy <= head;
    // For a tag or a hash, the block number is unknown. Only nodes at the head then certainly have the block.
    const needsBlock = pool.isSingle ? undefined : isOfChain ? policy : head;
    const pinned = this.pin(params);
    const accepted = this.acceptedOf(params);
    const first = accepted && pool.nodes[accepted.node];
    return {
      method: name,
      body: bodyOf(name, params),
      bodyByHash: pinned && bodyOf(name, pinned),
      needsBlock: needsBlock === -1 ? undefined : needsBlock,
      once,
      mayStream,
      timeoutMs,
      maxBytes: Math.min(maxAnswerBytes, smallBytesOf(this.#row)),
      oversizeBlame: this.#faultOfSize(),
      failedBefore,
      reservation: room,
      tried,
      client,
      span,
      isBackground,
      first,
      neverHedged: this.#row.acceptedKey?.(params) !== undefined && this.#row.nullable !== true,
      classify: (response, node) => {
        // The node that accepted the transaction decides whether it exists, unless another has it.
        const isLate = first !== undefined && node !== first && !isFound(response);
        const classified = this.#classify(params, response, isOfChain);
        return isLate && classified === 'good' ? 'elsewhere' : classified;
      },
    };
  }

  /** Returns the node that accepted the transaction of a request. Undefined if no node did in the last minute. */
  acceptedOf(params: readonly unknown[]): ReturnType<AcceptedTransactions['get']> {
    const key = this.#row.acceptedKey?.(params);
    return key === undefined ? undefined : this.#network.accepted.get(key);
  }

  /** Returns the parameters with the block number replaced by the block's hash. Undefined if it is not replaced. */
  pin(params: readonly unknown[]): readonly unknown[] | undefined {
    const { pool } = this.#network;
    // With a single node, no hash is needed, because that node determines the chain.
    return pool.isSingle ? undefined : pinBlock(this.#row, params, pool.heads);
  }

  /** Returns the failure of an equal request in the last minute. A promise only if a node must be polled first. */
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
    // A single node resolves tags itself. Its head may be newer than at the last poll, so it is polled again.
    if (failed === undefined || node === undefined || !pool.isSingle) return failed;
    if (scope.of !== 'block' || !isTag(params[scope.param])) return failed;
    return pool.refresh(node).then(remembered);
  }

  /** Returns a node's result as a stream. Above the size limit, the stream fails; retries may then fail at once. */
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
      throw new NoResponseError();
    }
    const chainState = chainStateOf(this.#row, params, pool.heads);
    const broke = (error: Error): void => {
      if (!(error instanceof OversizedResponseError)) return;
      if (this.#faultOfSize() === 'node') return pool.requests.failed(node, name, error);
      pool.requests.failedRequest(node, name, error);
      const nodes = [...failedAt, node];
      const isFinal = pool.isSingle || nodes.length >= NODES_TO_FAIL_REQUEST;
      this.#rememberFailed({ key, params, chainState }, new FailedRequestError(error, nodes, isFinal));
    };
    return { ...result, pipe: (sink) => result.pipe(watched(sink, broke)) };
  }

  #faultOfSize(): OversizeBlame {
    const { once, isExtra } = this.#row;
    if (isExtra === true) return 'request';
    // The node may have accepted the transaction despite the oversized response. It must not count as failed.
    if (once === true) return 'node';
    const smallBytes = smallBytesOf(this.#row);
    if (smallBytes === Infinity) return 'request';
    return smallBytes <= this.#network.maxAnswerBytes ? 'node' : 'unclear';
  }

  #classify(params: readonly unknown[], response: UpstreamResponse, isOfChain: boolean): ResponseClass {
    const { chainId } = this.#network.pool;
    const expectsBlock = isOfChain && this.#row.isBlockItself === true;
    const found = classifyResponse({ row: this.#row, params, chainId, expectsBlock }, response);
    return found === 'good' && this.isOfOtherFork(params, response) ? 'otherFork' : found;
  }

  /** Returns true if the current chain has a block with another hash at a block number of the result. */
  isOfOtherFork(params: readonly unknown[], response: UpstreamResponse): boolean {
    const { pool } = this.#network;
    if (pool.isSingle || response.kind !== 'result') return false;
    for (const { number, hash } of this.#row.referencedBlocks?.(params, response.value) ?? [])
      if ((pool.heads.hashOf(number) ?? hash) !== hash) return true;
    return false;
  }

  #rememberFailed({ key, params, chainState }: RequestOfState, error: FailedRequestError): void {
    const { pool, failedRequests } = this.#network;
    // Only an oversized response is remembered, because other failures cost a node almost nothing.
    if (!(error.cause instanceof OversizedResponseError)) return;
    // If the chain changed during the request, the chain state in which the request failed is unknown.
    if (chainState !== undefined && chainState === chainStateOf(this.#row, params, pool.heads))
      failedRequests.put(key, chainState, error);
  }
}

const isFound = (response: UpstreamResponse): boolean =>
  response.kind === 'result' && response.value !== null;

const bodyOf = (method: string, params: readonly unknown[]): string =>
  `{"jsonrpc":"2.0","id":${NODE_REQUEST_ID},"method":"${method}","params":${JSON.stringify(params)}}`;

/** Returns a sink that forwards everything to `sink`. It also reports a failure to `broke`. */
const watched = (sink: ResultSink, broke: (error: Error) => void): ResultSink => ({
  write: (piece) => sink.write(piece),
  end: () => sink.end(),
  fail(error) {
    broke(error);
    sink.fail(error);
  },
});
