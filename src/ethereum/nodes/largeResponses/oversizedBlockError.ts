import { NodeError } from '../client/nodeError.ts';

/** Limit that the traces of a block exceeded: the memory for the block, or the bytes read for one transaction. */
type BlockBound = 'index.maxBlockBytes' | 'bytes read for a transaction';

/** The traces of a block exceed a limit. The reason is `oversized`. */
export class OversizedBlockError extends NodeError {
  readonly bound: BlockBound;

  constructor(bound: BlockBound, message: string) {
    super('oversized', `${message} (${bound})`);
    this.bound = bound;
  }
}

/** True if one response was too large; smaller requests for its parts may succeed. */
export const isTooLargeAtOnce = (error: unknown): boolean =>
  error instanceof NodeError && error.reason === 'oversized' && !(error instanceof OversizedBlockError);
