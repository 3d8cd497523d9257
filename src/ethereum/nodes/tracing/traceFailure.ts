import type { BlockHeader, TraceFailure } from '../../traces/index.ts';
import { CallError, HttpStatusError, NodeBusyError, NodeError } from '../client/nodeError.ts';
import { METHOD_NOT_FOUND } from '../client/rpcResponse.ts';

/** The node has a block and did not return its traces. */
export class BlockTraceError extends NodeError {
  readonly failure: TraceFailure;
  /** Header from the node; its hash was checked. */
  readonly header: BlockHeader;

  constructor(cause: NodeError, { failure, header }: Pick<BlockTraceError, 'failure' | 'header'>) {
    super(cause.reason, cause.message, { cause });
    this.failure = failure;
    this.header = header;
  }
}

/** HTTP statuses that a node, or a proxy before it, returns if a trace call fails. */
const STATUSES: Readonly<Record<number, TraceFailure>> = { 500: 'tracerError', 504: 'timeout' };
/** JSON-RPC error codes with which providers limit the call rate. */
const BUSY_CODES: readonly number[] = [-32_005, 429];

/** Classifies a failed trace; undefined if the block is not the cause (node unreachable or busy, or no such method). */
export function traceFailureOf(error: NodeError): TraceFailure | undefined {
  if (error instanceof NodeBusyError) return undefined;
  if (error instanceof HttpStatusError) return STATUSES[error.status];
  if (error instanceof CallError)
    return error.code === METHOD_NOT_FOUND || BUSY_CODES.includes(error.code) ? undefined : 'tracerError';
  switch (error.reason) {
    case 'timeout':
      return 'timeout';
    case 'oversized':
      return 'oversized';
    case 'nonsense':
      return 'invalid';
    default:
      return undefined;
  }
}
