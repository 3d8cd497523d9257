import { RateLimitedError } from '../jsonrpc/index.ts';

/** By then others have taken their answers, or are cut. */
const RETRY_AFTER_SECONDS = 1;

/** There is no room for an answer now: HTTP status 429 where it is the only one, so that clients try again. */
export const noRoom = (): RateLimitedError =>
  new RateLimitedError(
    'there is no room for so large an answer now: others have not been read; try again',
    RETRY_AFTER_SECONDS,
  );
