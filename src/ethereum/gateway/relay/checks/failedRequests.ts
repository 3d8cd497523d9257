import { createHash } from 'node:crypto';
import type { FailedRequestError } from '../../../nodes/index.ts';

/**
 * Time in milliseconds for which a failed request is remembered. Client libraries repeat a request within seconds.
 * After a minute, the node may have been repaired.
 */
export const REMEMBERED_MS = 60_000;
/** Maximum number of remembered requests; each needs about 1 kB. Only those with an oversized response are stored. */
export const MAX_REMEMBERED = 4_096;

interface Remembered {
  readonly chainState: string;
  readonly untilMs: number;
  readonly error: FailedRequestError;
}

/**
 * Remembers for a minute which requests failed because of their content, not because of a node. A repeated request
 * then needs no node. If the table is full, new requests are not stored, so that a client cannot evict the entries of
 * other clients.
 */
export class FailedRequests {
  /** Failed requests, oldest first. The key is a digest, because parameters may be as long as a request body. */
  readonly #remembered = new Map<string, Remembered>();
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#remembered.size;
  }

  /**
   * Returns the failure of an equal request in the last minute. Undefined if there is none or the chain state changed.
   */
  get(request: string, chainState: string | undefined): FailedRequestError | undefined {
    const remembered = this.#remembered.get(digestOf(request));
    if (remembered === undefined || remembered.chainState !== chainState) return undefined;
    return this.#nowMs() < remembered.untilMs ? remembered.error : undefined;
  }

  put(request: string, chainState: string, error: FailedRequestError): void {
    const nowMs = this.#nowMs();
    // Entries are in insertion order, so the loop starts with the oldest.
    for (const [digest, { untilMs }] of this.#remembered) {
      if (nowMs < untilMs) break;
      this.#remembered.delete(digest);
    }
    const digest = digestOf(request);
    this.#remembered.delete(digest);
    if (this.#remembered.size >= MAX_REMEMBERED) return;
    this.#remembered.set(digest, { chainState, untilMs: nowMs + REMEMBERED_MS, error });
  }
}

const digestOf = (request: string): string => createHash('sha256').update(request).digest('base64');
