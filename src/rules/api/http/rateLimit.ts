import { ApiError } from './errors.ts';

export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

interface Window {
  readonly startedAtMs: number;
  used: number;
}

/** Number of windows at which ended ones are removed from memory. It is far above the usual number of tokens. */
const MAX_WINDOWS = 10_000;
const MS_PER_SECOND = 1000;

/**
 * Limits the requests of each token per window of time. A window starts with the token's first request after the last
 * window ended.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #nowMs: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(limit: RateLimit, nowMs: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /**
   * Counts a request of a tree of tokens. Returns rate limit headers as Cloudflare sends them. At the limit, throws
   * `rateLimited` with these headers and `Retry-After`.
   */
  count(rootId: string): Record<string, string> {
    const now = this.#nowMs();
    const window = this.#windowOf(rootId, now);
    const { requests, windowSeconds } = this.#limit;
    const secondsLeft = Math.ceil(windowSeconds - (now - window.startedAtMs) / MS_PER_SECOND);
    const allowed = window.used < requests;
    if (allowed) window.used++;
    const headers = {
      ratelimit: `"default";r=${requests - window.used};t=${secondsLeft}`,
      'ratelimit-policy': `"default";q=${requests};w=${windowSeconds}`,
    };
    if (allowed) return headers;
    throw new ApiError('rateLimited', {
      message: `More than ${requests} requests in ${windowSeconds} s; wait ${secondsLeft} s`,
      headers: { ...headers, 'retry-after': String(secondsLeft) },
    });
  }

  #windowOf(rootId: string, now: number): Window {
    const known = this.#windows.get(rootId);
    if (known && !this.#hasEnded(known, now)) return known;
    if (this.#windows.size >= MAX_WINDOWS)
      for (const [id, window] of this.#windows) if (this.#hasEnded(window, now)) this.#windows.delete(id);
    const window = { startedAtMs: now, used: 0 };
    this.#windows.set(rootId, window);
    return window;
  }

  #hasEnded(window: Window, now: number): boolean {
    return now - window.startedAtMs >= this.#limit.windowSeconds * MS_PER_SECOND;
  }
}
