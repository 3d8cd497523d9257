/** Something that whoever typed the command mends: its message says what to do, and no stack follows it. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
