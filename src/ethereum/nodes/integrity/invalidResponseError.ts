/** What a node answered cannot be true. The message says what contradicts what, for the log. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}
