import { setTimeout as pause } from 'node:timers/promises';
import { ApiFailure, failureOf } from './apiFailure.ts';

export interface TransportResponse {
  readonly envelope: unknown;
  readonly etag: string | undefined;
  /** Whether the server returned the stored result of an earlier request to create a rule. */
  readonly replayed: boolean;
  readonly request: string;
}

interface SendOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ApiRequest extends SendOptions {
  readonly method: string;
  readonly path: string;
}

/** Time limit of one HTTP response. Usual responses are far faster: even a change waits only for the disk. */
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 4;
/** Pause before the first retry. It doubles with each attempt, unless the server sends `Retry-After`. */
const FIRST_PAUSE_MS = 250;
/** Longest `Retry-After` that the client waits for: the longest window of a rate limit. Above it, a request fails. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Length from which a pause is reported to the user, so that it does not look like a hang. */
const REPORTED_PAUSE_MS = 1000;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** Called before a pause between two attempts that the server requested with `Retry-After`. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /**
   * Aborts pauses and GET requests. Requests that change something are not aborted, so that their outcome is known.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Pause that the server requested before the request is repeated. */
export interface Wait {
  readonly seconds: number;
  /** HTTP status of the response that requested the pause. */
  readonly status: number;
}

/** Sends requests to a rules API and parses responses. Retries if the server is busy or temporarily unreachable. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #baseUrl: string;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<TransportResponse> {
    const request = { method, path, ...options };
    for (let attempt = 1; ; attempt++) {
      const last = attempt === ATTEMPTS;
      const response = await this.#once(request, last);
      const pauseMs = pauseOf(response, attempt);
      if (response && (last || !isRetryable(response.status) || pauseMs > MAX_PAUSE_MS))
        return this.#read(request, response, attempt);
      await response?.body?.cancel();
      if (response?.headers.has('retry-after') && pauseMs >= REPORTED_PAUSE_MS)
        this.#options.onWait?.({ seconds: Math.ceil(pauseMs / 1000), status: response.status });
      await pause(pauseMs, undefined, { signal: this.#options.signal });
    }
  }

  /**
   * Sends a request one time. Returns undefined if no response arrived and another attempt remains. Each request to
   * the rules API is safe to repeat.
   */
  async #once({ method, path, headers, body }: ApiRequest, last: boolean): Promise<Response | undefined> {
    try {
      return await fetch(this.#baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#options.token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // Redirects are not followed, because that would send the token to another server.
        redirect: 'manual',
        signal: this.#signalOf(method),
      });
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (!last) return undefined;
      const message = `${this.#baseUrl} does not respond: ${fetchFailureReason(error)}. Check the URL, and that the server runs`;
      throw new ApiFailure(message, { cause: error, afterLostAnswer: true });
    }
  }

  #signalOf(method: string): AbortSignal {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const { signal } = this.#options;
    return signal && method === 'GET' ? AbortSignal.any([signal, timeout]) : timeout;
  }

  async #read({ method, path }: ApiRequest, response: Response, attempt: number): Promise<TransportResponse> {
    const request = `${method} ${this.#baseUrl}${path.split('?', 1)[0]}`;
    const envelope = parse(await response.text());
    const etag = response.headers.get('etag') ?? undefined;
    // A repeated DELETE gets 404 if an earlier attempt deleted the object and its response was lost.
    const gone = method === 'DELETE' && response.status === 404 && attempt > 1;
    if (!response.ok && !gone) throw failureOf({ status: response.status, envelope, request, attempt });
    if (envelope === undefined && !gone)
      throw new ApiFailure(`${request}: the response is not JSON; check the URL`);
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { envelope, etag, replayed, request };
  }
}

function isRetryable(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Returns the pause before a retry in ms, from `Retry-After` (seconds or date; RFC 9110, 10.2.3) or the default. */
function pauseOf(response: Response | undefined, attempt: number): number {
  const asked = response?.headers.get('retry-after') ?? '';
  if (/^\d+$/.test(asked)) return Number(asked) * 1000;
  const until = Date.parse(asked);
  return Number.isNaN(until) ? FIRST_PAUSE_MS * 2 ** (attempt - 1) : Math.max(0, until - Date.now());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the reason of an error of `fetch` in one line. */
export function fetchFailureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message of a fetch error is always "fetch failed"; its cause contains the reason.
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  // The message of OpenSSL is its whole error queue.
  return 'reason' in cause ? `TLS: ${cause.reason}` : cause.message || String(cause);
}
