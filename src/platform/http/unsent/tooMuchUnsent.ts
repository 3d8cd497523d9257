/** By then a client that reads has taken something, and one that does not is cut. */
const UNSENT_RETRY_AFTER_SECONDS = 1;

/** A request is refused, with nothing done: what was asked for before has to be read first. The framework sends it as it is. */
export class TooMuchUnsentError extends Error {
  override readonly name = 'TooMuchUnsentError';
  readonly statusCode = 429;
  readonly headers = { 'retry-after': String(UNSENT_RETRY_AFTER_SECONDS) };

  constructor() {
    super('too many bytes of answers have not been read; read them first, or try again later');
  }
}
