/** A node's response is provably false. The message says what contradicts what, and goes to the log. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}
