/** An error that the user can fix. The message contains the remedy, and no stack trace is printed. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
