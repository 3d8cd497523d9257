import {
  BlockMismatchError,
  checkBlock,
  type FullHeader,
  parseHeader,
  parseTraceBlock,
  TraceFormatError,
} from '../../traces/convert/index.ts';
import {
  type BlockRef,
  type ChainIdentity,
  NodeError,
  type NodeHeads,
  type TracedBlock,
  type TraceSource,
} from '../../traces/index.ts';
import { type NodeClient, resultOf } from './nodeClient.ts';

/** Blocks and traces of one node that serves `trace_block`, every block checked before it is given on. */
export class NodeSource implements TraceSource {
  readonly #node: NodeClient;

  constructor(node: NodeClient) {
    this.#node = node;
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

  async block(blockNumber: number): Promise<TracedBlock | undefined> {
    const answers = await this.#node.batch([
      ['eth_getBlockByNumber', hex(blockNumber), false],
      ['trace_block', hex(blockNumber)],
    ]);
    const block = resultOf('eth_getBlockByNumber', answers[0]);
    if (block === null) return undefined;
    const header = this.#header(block);
    if (header.number !== blockNumber)
      throw new NodeError(
        'nonsense',
        `${this.#node.name} gave block ${header.number} for block ${blockNumber}`,
      );
    const answer = resultOf('trace_block', answers[1]);
    return this.#checked(() => {
      const traces = parseTraceBlock(answer ?? []);
      checkBlock(header, traces);
      return { header, traces };
    });
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
