/** An error that the user can fix. The message contains the remedy, and no stack trace is printed. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** Error for invalid arguments of a command. Its message names the argument and what is allowed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
