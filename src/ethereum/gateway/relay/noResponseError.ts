import { NoNodeError } from '../../jsonrpc/index.ts';
import { type NodeError, OtherForkError } from '../../nodes/index.ts';

/** Thrown if no node returned a usable response. `cause` is the failure of the node that was queried last. */
export class NoResponseError extends NoNodeError {
  override readonly cause: NodeError | undefined;

  constructor(cause?: NodeError) {
    super();
    this.cause = cause;
  }
}

/** Returns true if the node that was asked last returned a result from another fork than that of the current head. */
export const isOtherForkError = (error: unknown): boolean =>
  error instanceof NoResponseError && error.cause instanceof OtherForkError;
