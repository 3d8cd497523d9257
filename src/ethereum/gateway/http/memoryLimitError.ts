import { RateLimitedError } from '../../jsonrpc/index.ts';

/** Seconds until a retry. By then, other responses will have been read, or their connections closed. */
const RETRY_AFTER_SECONDS = 1;

/** Error for a result that exceeds the free memory budget. The HTTP status is 429, so that clients retry. */
export const memoryLimitError = (): RateLimitedError =>
  new RateLimitedError('memory limit of unread responses reached; try again', RETRY_AFTER_SECONDS);
