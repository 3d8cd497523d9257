/** Thrown if traces are well-formed, but not the complete traces of the requested block. */
export class BlockMismatchError extends Error {
  override readonly name = 'BlockMismatchError';
  readonly reason: string;

  constructor(blockNumber: number, reason: string) {
    super(`traces do not fit block ${blockNumber}: ${reason}`);
    this.reason = reason;
  }
}
