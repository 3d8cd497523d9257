import type { Span } from '../../platform/spans/index.ts';
import {
  BlockMismatchError,
  blockRewards,
  checkBlock,
  type ForkSchedule,
  type FullHeader,
  forkScheduleOf,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
  TraceFormatError,
} from '../traces/convert/index.ts';
import type { ChainIdentity, Hash } from '../traces/index.ts';
import { askChain, chainIdentity } from './nodeChain.ts';
import type { NodeCalls, NodeClient } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { askBlockRef, askHeads, type BlockRef, type NodeHeads } from './nodeHeads.ts';
import { resultOf } from './rpcResponse.ts';
import { traceByTracer } from './traceByTracer.ts';
import { TraceMethodDetector, type TraceMethodFound } from './traceMethodDetector.ts';
import type { TracedBlock, TraceProvider, TransactionFinder } from './traceProvider.ts';

/**
 * Blocks and traces of one node, by whichever method it gives them, every block checked before it is given on. What is exact
 * by which method: docs/nodes.md.
 */
export class NodeTraces implements TraceProvider, TransactionFinder {
  readonly #node: NodeClient;
  readonly #method: TraceMethodDetector;
  #schedule: ForkSchedule | undefined;

  constructor(node: NodeClient, found: TraceMethodFound = () => undefined) {
    this.#node = node;
    this.#method = new TraceMethodDetector(node, found);
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

  /** The block that a transaction is in; undefined where the node knows none. */
  async transactionBlock(hash: Hash): Promise<number | undefined> {
    const transaction = await this.#node.call('eth_getTransactionByHash', hash);
    if (transaction === null) return undefined;
    const number = (transaction as { blockNumber?: unknown }).blockNumber; // any JSON value has members, or none
    if (number === null || number === undefined) return undefined; // it waits to be mined
    if (typeof number !== 'string' || !Number.isSafeInteger(Number(number)))
      throw new NodeError('nonsense', `${this.#node.host} gave a transaction in a block that is no number`);
    return Number(number);
  }

  async block(blockNumber: number, span?: Span): Promise<TracedBlock | undefined> {
    const node = span === undefined ? this.#node : this.#node.under(span);
    // The genesis block has no transactions, and geth's tracers refuse it.
    const method = blockNumber === 0 ? 'none' : await this.#method.current();
    try {
      return method === 'trace_block'
        ? await this.#parityBlock(node, blockNumber)
        : await this.#gethBlock(node, blockNumber, method);
    } catch (error) {
      // A false answer is no reason to take the node's word by another method, which is less exact: it is refused.
      const isFalse = error instanceof NodeError && error.reason === 'nonsense';
      if (method !== 'trace_block' || !isFalse) this.#method.failed();
      throw error;
    }
  }

  async #parityBlock(node: NodeCalls, blockNumber: number): Promise<TracedBlock | undefined> {
    const answers = await node.batch([
      ['eth_getBlockByNumber', hex(blockNumber), false],
      ['trace_block', hex(blockNumber)],
    ]);
    const block = resultOf('eth_getBlockByNumber', answers[0]);
    if (block === null) return undefined;
    const header = this.#headerOf(blockNumber, block);
    const answer = resultOf('trace_block', answers[1]);
    const isRewarded = header.difficulty > 0n && (await this.#forkSchedule()).minedRewards;
    return this.#checked(() => {
      // Nothing is an answer where there is nothing to tell; a mined block has a reward at least.
      const traces = parseTraceBlock(answer ?? []);
      checkBlock(header, traces);
      if (isRewarded && header.number > 0 && !traces.some(({ type }) => type === 'reward'))
        throw new BlockMismatchError(header.number, 'the block was mined, and its reward is missing');
      return { header, traces };
    });
  }

  /** By hash, so that header, transactions and traces are of one block whatever the chain does meanwhile. */
  async #gethBlock(
    node: NodeCalls,
    blockNumber: number,
    method: 'callTracer' | 'flatCallTracer' | 'none',
  ): Promise<TracedBlock | undefined> {
    const block = await node.call('eth_getBlockByNumber', hex(blockNumber), true);
    if (block === null) return undefined;
    const header = this.#headerOf(blockNumber, block);
    const [answer, uncles, schedule] = await Promise.all([
      method === 'none' || header.transactionHashes.length === 0 ? [] : tracedBy(node, header, method),
      unclesOf(node, header),
      this.#forkSchedule(),
    ]);
    return this.#checked(() => {
      const transactions = method === 'none' ? [] : parseTransactions(block);
      const convert = method === 'flatCallTracer' ? fromFlatCallTracer : fromCallTracer;
      const frames = convert({ header, transactions }, answer, schedule);
      const rewards = blockRewards(header, uncles.map(parseHeader), schedule);
      const traces = [...frames, ...rewards];
      checkBlock(header, traces);
      return { header, traces };
    });
  }

  async #forkSchedule(): Promise<ForkSchedule> {
    this.#schedule ??= forkScheduleOf((await askChain(this.#node)).chainId);
    return this.#schedule;
  }

  #headerOf(blockNumber: number, block: unknown): FullHeader {
    const header = this.#header(block);
    if (header.number === blockNumber) return header;
    throw new NodeError(
      'nonsense',
      `${this.#node.host} gave block ${header.number} for block ${blockNumber}`,
    );
  }

  #header(block: unknown): FullHeader {
    return this.#checked(() => parseHeader(block));
  }

  /** What a node's answer fails is the node's fault, and said so with its name. */
  #checked<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TraceFormatError || error instanceof BlockMismatchError)) throw error;
      throw new NodeError('nonsense', `${this.#node.host}: ${error.message}`, { cause: error });
    }
  }
}

async function tracedBy(
  node: NodeCalls,
  { number, hash }: FullHeader,
  tracer: 'callTracer' | 'flatCallTracer',
): Promise<unknown> {
  return resultOf(tracer, await traceByTracer(node, { number: hex(number), hash }, tracer));
}

async function unclesOf(node: NodeCalls, { hash, uncleHashes }: FullHeader): Promise<readonly unknown[]> {
  if (uncleHashes.length === 0) return [];
  const answers = await node.batch(
    uncleHashes.map((_, i) => ['eth_getUncleByBlockHashAndIndex', hash, hex(i)]),
  );
  return answers.map((answer) => resultOf('eth_getUncleByBlockHashAndIndex', answer));
}

const hex = (number: number): string => `0x${number.toString(16)}`;
