import { retryAfter } from './retryAfter.ts';

/** Rejects a request whose client must first read its pending responses. Fastify sends the error as it is. */
export class TooMuchUnsentError extends Error {
  override readonly name = 'TooMuchUnsentError';
  readonly statusCode = 429;
  /** Time in seconds in which the client reads its responses or is disconnected. */
  readonly headers = { 'retry-after': retryAfter(1) };

  constructor() {
    super('too many bytes of answers have not been read; read them first, or try again later');
  }
}
