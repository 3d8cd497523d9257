import { NoNodeError } from '../../jsonrpc/index.ts';
import { type NodeError, OtherForkError } from '../../nodes/index.ts';

/** No node gave an answer; the cause is the last one's failure. */
export class Unanswered extends NoNodeError {
  override readonly cause: NodeError | undefined;

  constructor(cause?: NodeError) {
    super();
    this.cause = cause;
  }
}

/** Whether the last node that was asked told of another fork than the head's. */
export const isOtherFork = (error: unknown): boolean =>
  error instanceof Unanswered && error.cause instanceof OtherForkError;
