/** A node's response is provably false. The message names the contradiction, for the log. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}
