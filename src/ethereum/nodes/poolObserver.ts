import type { TraceMethod } from '../traces/convert/index.ts';
import type { NodeError } from './nodeError.ts';
import type { BlockRef } from './nodeHeads.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Hears what happens to nodes, for logs and metrics. Nodes are named by their place in the configuration. */
export interface PoolObserver {
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  failed(node: UpstreamNode, method: string, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
  hedged(method: string): void;
  healthChanged(node: UpstreamNode, reason: string): void;
  traceMethodFound(node: UpstreamNode, method: TraceMethod, remarks: readonly string[]): void;
  headWentBack(from: BlockRef, to: BlockRef): void;
}
