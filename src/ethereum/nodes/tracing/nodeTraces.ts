import type { Span } from '../../../platform/spans/index.ts';
import {
  type BlockAnswers,
  BlockMismatchError,
  blockRulesAt,
  type ChainRules,
  checkReceipts,
  convertBlock,
  FIRST_STEP,
  type FullHeader,
  hiddenCharges,
  isForkActive,
  parseHeader,
  parseTransactions,
  TraceFormatError,
  type TraceMethod,
} from '../../traces/convert/index.ts';
import type { BlockHeader, ChainIdentity, Data, Hash } from '../../traces/index.ts';
import type { CallOptions, NodeCalls, NodeClient } from '../client/nodeClient.ts';
import { CallError, NodeError } from '../client/nodeError.ts';
import { type NodeCall, resultOf } from '../client/rpcResponse.ts';
import { checkBlockHash } from '../integrity/blockHash.ts';
import { askByTransaction } from '../largeResponses/byTransaction.ts';
import { isTooLargeAtOnce } from '../largeResponses/oversizedBlockError.ts';
import { ResponseMemory } from '../largeResponses/responseMemory.ts';
import { DEFAULT_TRACE_LIMITS, type TraceLimits } from '../largeResponses/traceLimits.ts';
import { askChain, chainIdentity } from '../pool/nodeChain.ts';
import { askBlockOfHash, askBlockRef, askHeads, type BlockRef, type NodeHeads } from '../pool/nodeHeads.ts';
import { BlockReceipts } from './blockReceipts.ts';
import { NodeRules } from './nodeRules.ts';
import { isRefused, traceRuntimeCharges } from './runtimeCharges.ts';
import { checkInPlace, type Tracer, traceByTracer, tracerOptions, tracerTimeout } from './traceByTracer.ts';
import { BlockTraceError, traceFailureOf } from './traceFailure.ts';
import { TraceMethodDetector, type TraceMethodFound } from './traceMethodDetector.ts';
import type { BlockFinder, TracedBlock, TraceProvider, TransactionFinder } from './traceProvider.ts';

export interface NodeTracesOptions {
  readonly onMethodFound?: TraceMethodFound | undefined;
  /** Called with the number of a block's transactions whose root frames may have inexact `gas`, if there are any. */
  readonly onInexactGas?: ((transactions: number) => void) | undefined;
  readonly limits?: Partial<TraceLimits> | undefined;
}

/** All trace methods, the most exact one first. */
const TRACE_METHODS: readonly TraceMethod[] = ['trace_block', 'callTracer', 'flatCallTracer'];

/** Timeout of a header request. A header is small, so a slower node is unhealthy. */
const HEADER_CALL: CallOptions = { isPoll: true, timeoutMs: 5_000 };

/** Reads blocks and traces from one node and checks them. docs/reference/nodes.md says how exact each method is. */
export class NodeTraces implements TraceProvider, TransactionFinder, BlockFinder {
  readonly #node: NodeClient;
  readonly #method: TraceMethodDetector;
  readonly #limits: TraceLimits;
  readonly #rules: NodeRules;
  readonly #receipts: BlockReceipts | undefined;
  readonly #onInexactGas: (transactions: number) => void;

  constructor(node: NodeClient, options: NodeTracesOptions = {}) {
    const { onMethodFound = () => undefined, onInexactGas = () => undefined, limits } = options;
    this.#onInexactGas = onInexactGas;
    this.#node = node;
    this.#rules = new NodeRules(node);
    this.#limits = { ...DEFAULT_TRACE_LIMITS, ...limits };
    this.#receipts = this.#limits.checkReceipts ? new BlockReceipts() : undefined;
    this.#method = new TraceMethodDetector(node, onMethodFound, this.#limits);
  }

  async chain(): Promise<ChainIdentity> {
    return chainIdentity(await askChain(this.#node), this.#node);
  }

  heads(): Promise<NodeHeads> {
    return askHeads(this.#node);
  }

  blockRef(blockNumber: number): Promise<BlockRef | undefined> {
    return askBlockRef(this.#node, blockNumber);
  }

  blockOfHash(hash: Hash): Promise<BlockRef | undefined> {
    return askBlockOfHash(this.#node, hash);
  }

  /** Returns the number of a transaction's block; undefined if the transaction is pending or unknown to the node. */
  async transactionBlock(hash: Hash): Promise<number | undefined> {
    const transaction = await this.#node.call('eth_getTransactionByHash', hash);
    if (transaction === null) return undefined;
    const number = (transaction as { blockNumber?: unknown }).blockNumber; // safe for any JSON value except null
    if (number === null || number === undefined) return undefined; // pending
    if (typeof number !== 'string' || !Number.isSafeInteger(Number(number)))
      throw new NodeError(
        'nonsense',
        `${this.#node.host} returned a transaction with an invalid block number`,
      );
    return Number(number);
  }

  /** Replays a reverted transaction with a method of geth or, if the node lacks it, of Parity. */
  async revertOutput(hash: Hash): Promise<Data> {
    const answer = await this.#node
      .call('debug_traceTransaction', hash, {
        ...tracerOptions('callTracer', this.#limits),
        tracerConfig: { onlyTopCall: true },
      })
      .catch((error: unknown) => {
        if (!(error instanceof CallError)) throw error;
        return this.#node.call('trace_replayTransaction', hash, ['trace']);
      });
    const { output } = (answer ?? {}) as { output?: unknown }; // safe for any JSON value
    if (typeof output === 'string' && /^0x(?:[0-9a-f]{2})*$/.test(output)) return output as Data; // matches the pattern
    throw new NodeError('nonsense', `${this.#node.host} returned no output of transaction ${hash}`);
  }

  async block(blockNumber: number, span?: Span): Promise<TracedBlock | undefined> {
    const node = this.#nodeIn(span);
    // The genesis block has no transactions, and geth's tracers reject it.
    const method = blockNumber === 0 ? 'none' : await this.#methodInUse();
    try {
      return await this.#blockBy(method, node, blockNumber);
    } catch (error) {
      // After a false response to trace_block, no probe follows: it might choose another method, which is less exact.
      const isFalse = error instanceof NodeError && error.reason === 'nonsense';
      if (method !== 'trace_block' || !isFalse) this.#method.failed(blockNumber);
      throw await this.#traceError(blockNumber, error);
    }
  }

  /**
   * Returns a block that the node failed to trace, by the first other trace method that succeeds; undefined if none
   * does.
   */
  async blockByOtherMethod(blockNumber: number, span?: Span): Promise<TracedBlock | undefined> {
    const usual = await this.#methodInUse();
    const { rewards } = await this.chainRules();
    for (const method of TRACE_METHODS) {
      if (method === usual || (method !== 'trace_block' && rewards === 'node')) continue;
      try {
        return await this.#blockBy(method, this.#nodeIn(span), blockNumber);
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
      }
    }
    return undefined;
  }

  #nodeIn = (span: Span | undefined): NodeCalls =>
    span === undefined ? this.#node : this.#node.withSpan(span);

  #blockBy(
    method: TraceMethod | 'none',
    node: NodeCalls,
    blockNumber: number,
  ): Promise<TracedBlock | undefined> {
    return method === 'trace_block'
      ? this.#parityBlock(node, blockNumber)
      : this.#gethBlock(node, blockNumber, method);
  }

  /** Returns true if the node can trace the block. The block may be empty. Rejects with NodeError. */
  async canTrace(blockNumber: number): Promise<boolean> {
    const method = await this.#methodInUse();
    const block = await this.#node.call('eth_getBlockByNumber', hex(blockNumber), false);
    if (block === null) return false;
    const { hash } = this.#headerOf(blockNumber, block);
    const options = this.#large(blockNumber);
    const response =
      method === 'trace_block'
        ? (await this.#node.batch([['trace_block', hex(blockNumber)]], options))[0]
        : await traceByTracer(
            this.#node,
            { number: hex(blockNumber), hash },
            {
              tracing: tracerOptions(method, this.#limits),
              options,
            },
          );
    return response !== undefined && 'result' in response && Array.isArray(response.result);
  }

  /** Returns a BlockTraceError if the block caused the error and the node returns its header, otherwise `error`. */
  async #traceError(blockNumber: number, error: unknown): Promise<unknown> {
    const failure = error instanceof NodeError ? traceFailureOf(error) : undefined;
    if (failure === undefined) return error;
    const header = await this.#headerAlone(blockNumber).catch(() => undefined);
    return header === undefined ? error : new BlockTraceError(error as NodeError, { failure, header }); // checked above
  }

  async #headerAlone(blockNumber: number): Promise<BlockHeader> {
    const [response] = await this.#node.batch(
      [['eth_getBlockByNumber', hex(blockNumber), false]],
      HEADER_CALL,
    );
    const block = resultOf('eth_getBlockByNumber', response);
    const header = this.#headerOf(blockNumber, block);
    checkBlockHash(block);
    return header;
  }

  async #parityBlock(node: NodeCalls, blockNumber: number): Promise<TracedBlock | undefined> {
    const calls: readonly NodeCall[] = [
      ['eth_getBlockByNumber', hex(blockNumber), await this.#needsTransactions()],
      ['trace_block', hex(blockNumber)],
    ];
    try {
      const answers = await node.batch(calls, this.#large(blockNumber));
      const block = resultOf('eth_getBlockByNumber', answers[0]);
      if (block === null) return undefined;
      const header = this.#headerOf(blockNumber, block);
      // Some nodes return null for a block without transactions and rewards.
      const traces = resultOf('trace_block', answers[1]) ?? [];
      return await this.#converted(node, { header, block, traces }, 'trace_block');
    } catch (error) {
      if (!isTooLargeAtOnce(error)) throw error;
      return this.#parityBlockByTransaction(node, blockNumber);
    }
  }

  /** Reads the traces of each transaction. `trace_transaction` returns no rewards, so these are computed. */
  async #parityBlockByTransaction(node: NodeCalls, blockNumber: number): Promise<TracedBlock | undefined> {
    const block = await node.call('eth_getBlockByNumber', hex(blockNumber), await this.#needsTransactions());
    if (block === null) return undefined;
    const header = this.#headerOf(blockNumber, block);
    const { rewards } = await this.chainRules();
    if (rewards === 'node' || (header.difficulty > 0n && rewards === 'optional'))
      throw new NodeError(
        'oversized',
        `${this.#what(blockNumber)}: the traces are too large for one response, and only trace_block returns the block's rewards`,
      );
    const hashes = await this.#hashesToTrace(header, block);
    const calls = hashes.map((hash): NodeCall => ['trace_transaction', hash]);
    const answers = await this.#byTransaction(node, blockNumber, calls);
    const traces = answers.flatMap((answer) => answer ?? []);
    return this.#converted(node, { header, block, traces }, 'trace_transaction');
  }

  /** Reads traces with geth's tracers, by block hash: header and traces match even during a reorganisation. */
  async #gethBlock(
    node: NodeCalls,
    blockNumber: number,
    method: Tracer | 'none',
  ): Promise<TracedBlock | undefined> {
    const block = await node.call('eth_getBlockByNumber', hex(blockNumber), true);
    if (block === null) return undefined;
    const header = this.#headerOf(blockNumber, block);
    if (method === 'none') return { header, traces: [] };
    const isEmpty = header.transactionHashes.length === 0;
    if (isEmpty) return this.#converted(node, { header, block, traces: [] }, method);
    const traces = await this.#tracedBy(node, { header, block }, method);
    const firstSteps = await this.#firstSteps(node, header);
    const chargeTraces = await this.#chargeTraces(node, { header, block, firstSteps });
    return this.#converted(node, { header, block, traces, firstSteps, chargeTraces }, method);
  }

  async #converted(
    node: NodeCalls,
    answers: Omit<BlockAnswers, 'uncles'>,
    method: TraceMethod | 'trace_transaction',
  ): Promise<TracedBlock> {
    const { header } = answers;
    const rules = await (isTracer(method) ? this.#rules.withForks() : this.chainRules());
    const uncles =
      rules.rewards === 'scheduled' && header.difficulty > 0n ? await unclesOf(node, header) : [];
    const block = this.#checked(() => {
      const converted = convertBlock({ ...answers, uncles: uncles.map(parseHeader) }, method, rules);
      return { header, ...converted };
    });
    if (this.#receipts === undefined || !hasOrdinaryReceipts(rules)) return block;
    const receipts = await this.#receipts.of(node, header);
    if (receipts !== undefined) this.#checked(() => checkReceipts(header, block.traces, receipts));
    return block;
  }

  async #tracedBy(
    node: NodeCalls,
    { header, block }: Pick<BlockAnswers, 'header' | 'block'>,
    tracer: Tracer,
  ): Promise<unknown> {
    const { number, hash } = header;
    const place = { number: hex(number), hash };
    const tracing = tracerOptions(tracer, this.#limits);
    try {
      return resultOf(tracer, await traceByTracer(node, place, { tracing, options: this.#large(number) }));
    } catch (error) {
      if (!isTooLargeAtOnce(error)) throw error;
    }
    const hashes = await this.#hashesToTrace(header, block);
    const calls = hashes.map((txHash): NodeCall => ['debug_traceTransaction', txHash, tracing]);
    const results = await this.#byTransaction(node, number, calls);
    await checkInPlace(node, place);
    return results.map((result, i) => ({ txHash: hashes[i], result }));
  }

  /** Returns the hashes without a last transaction of the network: nodes fail to trace it outside of its block. */
  async #hashesToTrace({ transactionHashes }: FullHeader, block: unknown): Promise<readonly Hash[]> {
    const { systemTransaction } = await this.chainRules();
    if (systemTransaction === undefined) return transactionHashes;
    const last = this.#checked(() => parseTransactions(block)).at(-1);
    const isOfNetwork = last !== undefined && systemTransaction.matches(last);
    return isOfNetwork ? transactionHashes.slice(0, -1) : transactionHashes;
  }

  /**
   * Returns the first step of each transaction since Amsterdam, in which a transaction pays for state before its root
   * frame. Returns undefined if the rules of the block determine the gas of root frames, or if the node cannot log steps.
   */
  async #firstSteps(
    node: NodeCalls,
    { number, timestamp, hash, transactionHashes }: FullHeader,
  ): Promise<unknown> {
    const { fork } = blockRulesAt(await this.#rules.withForks(), { number, timestamp });
    if (!isForkActive('amsterdam', fork)) return undefined;
    const tracing = { ...FIRST_STEP, timeout: tracerTimeout(this.#limits) };
    const place = { number: hex(number), hash };
    const response = await traceByTracer(node, place, { tracing, options: this.#large(number) });
    if (!isRefused(response)) return resultOf('the step logger', response);
    this.#onInexactGas(transactionHashes.length);
    return undefined;
  }

  /** Returns traces of calls that show the charges of transactions without code, if the block's fork has such charges. */
  async #chargeTraces(
    node: NodeCalls,
    { header, block, firstSteps }: Pick<BlockAnswers, 'header' | 'block' | 'firstSteps'>,
  ): Promise<BlockAnswers['chargeTraces']> {
    if (firstSteps === undefined) return undefined;
    const rules = await this.#rules.withForks();
    const full = { header, transactions: this.#checked(() => parseTransactions(block)), firstSteps };
    const hidden = this.#checked(() => hiddenCharges(full, rules));
    const timeout = tracerTimeout(this.#limits);
    const charges = await traceRuntimeCharges(node, full, { hidden, rules, timeout });
    if (charges.hidden > 0) this.#onInexactGas(charges.hidden);
    return charges.traces;
  }

  #byTransaction(node: NodeCalls, blockNumber: number, calls: readonly NodeCall[]): Promise<unknown[]> {
    return askByTransaction(node, calls, { limits: this.#limits, what: this.#what(blockNumber) });
  }

  #large(blockNumber: number): CallOptions {
    const { maxBlockBytes, maxReadBytes, traceTimeoutMs } = this.#limits;
    const memory = new ResponseMemory(maxBlockBytes, this.#what(blockNumber));
    return { memory, maxBytes: maxReadBytes, silenceMs: traceTimeoutMs };
  }

  #what = (blockNumber: number): string => `${this.#node.host}, block ${blockNumber}`;

  /** Returns the trace method of the node. Rejects with NodeError if it does not suffice for the chain. */
  async #methodInUse(): Promise<TraceMethod> {
    const { name, unsupported, rewards } = await this.chainRules();
    if (unsupported !== undefined) throw new NodeError('refused', `${this.#node.host}: ${unsupported}`);
    const method = await this.#method.current();
    if (rewards !== 'node' || method === 'trace_block') return method;
    throw new NodeError(
      'refused',
      `${this.#node.host} has no trace_block, and only trace_block lists the rewards of ${name}; use Nethermind or Erigon`,
    );
  }

  /** Returns the rules of the node's chain, without those that the node reports. Rejects with NodeError. */
  chainRules(): Promise<ChainRules> {
    return this.#rules.ofChain();
  }

  /** Returns the rules of the node's chain with those that the node reports for recent blocks. Rejects with NodeError. */
  rulesWithForks(): Promise<ChainRules> {
    return this.#rules.withForks();
  }

  /** Whether blocks are needed with whole transactions, because the chain has transactions of the network. */
  async #needsTransactions(): Promise<boolean> {
    return (await this.chainRules()).systemTransaction !== undefined;
  }

  #headerOf(blockNumber: number, block: unknown): FullHeader {
    const header = this.#header(block);
    if (header.number === blockNumber) return header;
    throw new NodeError(
      'nonsense',
      `${this.#node.host} returned block ${header.number} for block ${blockNumber}`,
    );
  }

  #header(block: unknown): FullHeader {
    return this.#checked(() => parseHeader(block));
  }

  /** Runs `read`. If its result fails a check, throws a NodeError that names the node. */
  #checked<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TraceFormatError || error instanceof BlockMismatchError)) throw error;
      throw new NodeError('nonsense', `${this.#node.host}: ${error.message}`, { cause: error });
    }
  }
}

const isTracer = (method: TraceMethod | 'trace_transaction'): method is Tracer =>
  method === 'callTracer' || method === 'flatCallTracer';
/** Whether a failed transaction always has a root frame with an error, as on Ethereum. */
const hasOrdinaryReceipts = ({ systemTransaction, hasInvalidFrames, hasStopRoots }: ChainRules): boolean =>
  systemTransaction === undefined && hasInvalidFrames !== true && hasStopRoots !== true;

async function unclesOf(node: NodeCalls, { hash, uncleHashes }: FullHeader): Promise<readonly unknown[]> {
  if (uncleHashes.length === 0) return [];
  const answers = await node.batch(
    uncleHashes.map((_, i) => ['eth_getUncleByBlockHashAndIndex', hash, hex(i)]),
  );
  return answers.map((answer) => resultOf('eth_getUncleByBlockHashAndIndex', answer));
}

const hex = (number: number): string => `0x${number.toString(16)}`;
