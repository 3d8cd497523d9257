/**
 * Thrown to reject a request whose client must read its pending responses first. Fastify sends its status, headers
 * and message.
 */
export class TooMuchUnsentError extends Error {
  override readonly name = 'TooMuchUnsentError';
  readonly statusCode = 429;
  /** Number of seconds in which the client reads its responses or is disconnected. */
  readonly headers = { 'retry-after': '1' };

  constructor() {
    super('too many bytes of answers have not been read; read them first, or try again later');
  }
}
