/** Traces that are well formed each, and yet are not the complete traces of the block that they were asked for. */
export class BlockMismatchError extends Error {
  override readonly name = 'BlockMismatchError';
  readonly reason: string;

  constructor(blockNumber: number, reason: string) {
    super(`traces do not fit block ${blockNumber}: ${reason}`);
    this.reason = reason;
  }
}
