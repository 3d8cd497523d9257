import type { BlockHeader, TraceFailure } from '../../traces/index.ts';
import { CallError, HttpStatusError, NodeBusyError, NodeError } from '../client/nodeError.ts';
import { METHOD_NOT_FOUND } from '../client/rpcResponse.ts';

/** A node returned the header of a block, but not its traces. */
export class BlockTraceError extends NodeError {
  readonly failure: TraceFailure;
  /** Header that the node returned. The block hash was computed from it and compared. */
  readonly header: BlockHeader;

  constructor(cause: NodeError, { failure, header }: Pick<BlockTraceError, 'failure' | 'header'>) {
    super(cause.reason, cause.message, { cause });
    this.failure = failure;
    this.header = header;
  }
}

/** HTTP statuses by which a node, or a proxy before it, reports that it failed to trace a block. */
const STATUSES: Readonly<Record<number, TraceFailure>> = { 500: 'tracerError', 504: 'timeout' };
/** JSON-RPC error codes by which providers say that the client exceeds the call rate. */
const BUSY_CODES: readonly number[] = [-32_005, 429];

/** Returns why a block was not traced; undefined if the block is not the cause, but for example a busy node. */
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
