import type { BlockHeader } from '../../traces/index.ts';
import type { NodeCalls } from '../client/nodeClient.ts';
import { CallError, HttpStatusError, NodeError } from '../client/nodeError.ts';
import { type NodeCall, resultOf } from '../client/rpcResponse.ts';

/** Time for which a node that rejects requests for receipts is not asked again, in milliseconds. */
const REJECTED_MS = 600_000;

const METHOD = 'eth_getBlockReceipts';
/** Maximum size of a response, in bytes. Logs cost 8 gas per byte, so 100 million gas pay for 25 MB of them as hex. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads the receipts of whole blocks from one node, with which its traces are compared. */
export class BlockReceipts {
  readonly #nowMs: () => number;
  #rejectedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Returns the receipts of a block. Undefined if the node does not return them: the block is then not compared. */
  async of(node: NodeCalls, { number, transactionHashes }: BlockHeader): Promise<unknown> {
    if (transactionHashes.length === 0 || this.#nowMs() < this.#rejectedUntilMs) return undefined;
    try {
      const call: NodeCall = [METHOD, `0x${number.toString(16)}`];
      const [response] = await node.batch([call], { maxBytes: MAX_BYTES });
      return resultOf(METHOD, response) ?? undefined;
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      if (error instanceof CallError || error instanceof HttpStatusError)
        this.#rejectedUntilMs = this.#nowMs() + REJECTED_MS;
      return undefined;
    }
  }
}
