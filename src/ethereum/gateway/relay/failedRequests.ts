import { createHash } from 'node:crypto';
import type { FailedRequestError } from '../../nodes/index.ts';

/** Libraries ask again within seconds; after this a node may have been given more room, or have been mended. */
export const REMEMBERED_MS = 60_000;
/** At about a kilobyte each. To have one remembered, somebody has to make a node give an answer above the limit. */
export const MAX_REMEMBERED = 4_096;

interface Remembered {
  readonly chainState: string;
  readonly untilMs: number;
  readonly error: FailedRequestError;
}

/**
 * Requests that have failed by their own fault, for a minute: whoever asks again hears so without a node being asked. Full, it
 * takes no more: nobody can push out what others have caused.
 */
export class FailedRequests {
  /** By the digest of the request: its parameters may be as long as a body may. In the order in which they were put in. */
  readonly #remembered = new Map<string, Remembered>();
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#remembered.size;
  }

  /** How a request has failed; undefined where it has not, lately, or its chain was in another state. */
  get(request: string, chainState: string | undefined): FailedRequestError | undefined {
    const remembered = this.#remembered.get(digestOf(request));
    if (remembered === undefined || remembered.chainState !== chainState) return undefined;
    return this.#nowMs() < remembered.untilMs ? remembered.error : undefined;
  }

  put(request: string, chainState: string, error: FailedRequestError): void {
    const nowMs = this.#nowMs();
    // The oldest stand first.
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
