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
import { type NodeClient, resultOf } from './nodeClient.ts';
import {
  type BlockRef,
  NodeError,
  type NodeHeads,
  type TracedBlock,
  type TraceSource,
  type TransactionFinder,
} from './source.ts';
import { traceByTracer } from './traceByTracer.ts';
import { TraceWay, type WayFound } from './traceWay.ts';

/**
 * Blocks and traces of one node, in whichever way it gives them, every block checked before it is given on. What is exact
 * in which way: docs/nodes.md.
 */
export class NodeSource implements TraceSource, TransactionFinder {
  readonly #node: NodeClient;
  readonly #way: TraceWay;
  #schedule: ForkSchedule | undefined;

  constructor(node: NodeClient, found: WayFound = () => undefined) {
    this.#node = node;
    this.#way = new TraceWay(node, found);
  }

  async chain(): Promise<ChainIdentity> {
    const [chainId, genesis] = await this.#node.batch([
      ['eth_chainId'],
      ['eth_getBlockByNumber', '0x0', false],
    ]);
    const id = Number(resultOf('eth_chainId', chainId));
    if (!Number.isSafeInteger(id))
      throw new NodeError('nonsense', `${this.#node.name} has a chain id that is no number`);
    return { chainId: id, genesisHash: this.#header(resultOf('eth_getBlockByNumber', genesis)).hash };
  }

  async heads(): Promise<NodeHeads> {
    const tags = ['latest', 'safe', 'finalized'] as const;
    const answers = await this.#node.batch(tags.map((tag) => ['eth_getBlockByNumber', tag, false]));
    const latest = this.#ref(resultOf('eth_getBlockByNumber', answers[0]));
    const [safe, finalized] = [answers[1], answers[2]].map((answer) =>
      answer !== undefined && 'result' in answer && answer.result !== null
        ? this.#ref(answer.result)
        : undefined,
    );
    return { latest, ...(safe && { safe }), ...(finalized && { finalized }) };
  }

  async blockRef(blockNumber: number): Promise<BlockRef | undefined> {
    const block = await this.#node.call('eth_getBlockByNumber', hex(blockNumber), false);
    return block === null ? undefined : this.#ref(block);
  }

  /** The block that a transaction is in; undefined where the node knows none. */
  async transactionBlock(hash: Hash): Promise<number | undefined> {
    const transaction = await this.#node.call('eth_getTransactionByHash', hash);
    if (transaction === null) return undefined;
    const number = (transaction as { blockNumber?: unknown }).blockNumber; // any JSON value has members, or none
    if (number === null || number === undefined) return undefined; // it waits to be mined
    if (typeof number !== 'string' || !Number.isSafeInteger(Number(number)))
      throw new NodeError('nonsense', `${this.#node.name} gave a transaction in a block that is no number`);
    return Number(number);
  }

  async block(blockNumber: number): Promise<TracedBlock | undefined> {
    // The genesis block has no transactions, and geth's tracers refuse it.
    const way = blockNumber === 0 ? 'none' : await this.#way.current();
    try {
      return way === 'trace_block'
        ? await this.#parityBlock(blockNumber)
        : await this.#gethBlock(blockNumber, way);
    } catch (error) {
      // A false answer is no reason to take the node's word in another way, which is less exact: it is refused.
      const isFalse = error instanceof NodeError && error.reason === 'nonsense';
      if (way !== 'trace_block' || !isFalse) this.#way.failed();
      throw error;
    }
  }

  async #parityBlock(blockNumber: number): Promise<TracedBlock | undefined> {
    const answers = await this.#node.batch([
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
    blockNumber: number,
    way: 'callTracer' | 'flatCallTracer' | 'none',
  ): Promise<TracedBlock | undefined> {
    const block = await this.#node.call('eth_getBlockByNumber', hex(blockNumber), true);
    if (block === null) return undefined;
    const header = this.#headerOf(blockNumber, block);
    const [answer, uncles, schedule] = await Promise.all([
      way === 'none' || header.transactionHashes.length === 0 ? [] : this.#traced(header, way),
      this.#uncles(header),
      this.#forkSchedule(),
    ]);
    return this.#checked(() => {
      const transactions = way === 'none' ? [] : parseTransactions(block);
      const convert = way === 'flatCallTracer' ? fromFlatCallTracer : fromCallTracer;
      const frames = convert(header, transactions, answer, schedule);
      const rewards = blockRewards(header, uncles.map(parseHeader), schedule);
      const traces = [...frames, ...rewards];
      checkBlock(header, traces);
      return { header, traces };
    });
  }

  async #traced({ number, hash }: FullHeader, way: 'callTracer' | 'flatCallTracer'): Promise<unknown> {
    return resultOf(way, await traceByTracer(this.#node, { number: hex(number), hash }, way));
  }

  async #uncles({ hash, uncleHashes }: FullHeader): Promise<readonly unknown[]> {
    if (uncleHashes.length === 0) return [];
    const answers = await this.#node.batch(
      uncleHashes.map((_, i) => ['eth_getUncleByBlockHashAndIndex', hash, hex(i)]),
    );
    return answers.map((answer) => resultOf('eth_getUncleByBlockHashAndIndex', answer));
  }

  async #forkSchedule(): Promise<ForkSchedule> {
    this.#schedule ??= forkScheduleOf((await this.chain()).chainId);
    return this.#schedule;
  }

  #headerOf(blockNumber: number, block: unknown): FullHeader {
    const header = this.#header(block);
    if (header.number === blockNumber) return header;
    throw new NodeError(
      'nonsense',
      `${this.#node.name} gave block ${header.number} for block ${blockNumber}`,
    );
  }

  #ref(block: unknown): BlockRef {
    const { number, hash } = this.#header(block);
    return { number, hash };
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
      throw new NodeError('nonsense', `${this.#node.name}: ${error.message}`, { cause: error });
    }
  }
}

const hex = (number: number): string => `0x${number.toString(16)}`;
