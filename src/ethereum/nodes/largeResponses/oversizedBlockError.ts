import { NodeError } from '../client/nodeError.ts';

/** Limit that the traces of a block exceed: on the memory for the block, or on the bytes read for one transaction. */
type BlockBound = 'index.maxBlockBytes' | 'bytes read for a transaction';

/** The traces of a block exceed a limit, and smaller requests would not help. The reason is `oversized`. */
export class OversizedBlockError extends NodeError {
  readonly bound: BlockBound;

  constructor(bound: BlockBound, message: string) {
    super('oversized', `${message} (${bound})`);
    this.bound = bound;
  }
}

/** True if a response for a whole block was too large. A smaller request per transaction may then succeed. */
export const isTooLargeAtOnce = (error: unknown): boolean =>
  error instanceof NodeError && error.reason === 'oversized' && !(error instanceof OversizedBlockError);
