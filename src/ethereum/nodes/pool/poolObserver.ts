import type { TraceMethod } from '../../traces/convert/index.ts';
import type { NodeError } from '../client/nodeError.ts';
import type { BlockRef } from './nodeHeads.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Receives events of the nodes, for logs and metrics. */
export interface PoolObserver {
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  failed(node: UpstreamNode, method: string, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
  hedged(slow: UpstreamNode, method: string): void;
  /** The health changed, or is still `unknown` after the first failure. */
  healthChanged(node: UpstreamNode, reason: string): void;
  traceMethodFound(node: UpstreamNode, method: TraceMethod, remarks: readonly string[]): void;
  /** A block was traced, and the root frames of this number of transactions may have inexact `gas`. */
  inexactGas(node: UpstreamNode, transactions: number): void;
  headWentBack(from: BlockRef, to: BlockRef): void;
}
