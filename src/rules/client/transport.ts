import { setTimeout as pause } from 'node:timers/promises';
import { ApiFailure, failureOf } from './apiFailure.ts';

/** A successful answer. */
export interface Answer {
  readonly envelope: unknown;
  readonly etag: string | undefined;
  /** The server had made this creation before, and tells its first answer again. */
  readonly replayed: boolean;
  /** What was asked, for messages. */
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

/** How long an answer may take: a write waits for the disk, nothing more. */
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 4;
/** First pause before a retry; doubled each time, unless the server says how long. */
const FIRST_PAUSE_MS = 250;
/** Longest pause that a server may ask for: the longest window that a rate limit can have. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** A pause from here on is told: whoever watches would take it for a hang. */
const TOLD_PAUSE_MS = 1000;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** Told before a pause that a server asks for with `Retry-After`. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Ends pauses, and requests that only read. A request that changes something is waited for, so that its outcome is known. */
  readonly signal?: AbortSignal | undefined;
}

/** A pause before the same request is sent again. */
export interface Wait {
  readonly seconds: number;
  /** Of the answer that asks for it. */
  readonly status: number;
}

/** Sends requests and reads envelopes, trying again where the server is busy or out of reach for a moment. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #baseUrl: string;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const request = { method, path, ...options };
    for (let attempt = 1; ; attempt++) {
      const last = attempt === ATTEMPTS;
      const response = await this.#once(request, last);
      const pauseMs = pauseOf(response, attempt);
      if (response && (last || !isPassing(response.status) || pauseMs > MAX_PAUSE_MS))
        return this.#read(request, response, attempt);
      await response?.body?.cancel();
      if (response?.headers.has('retry-after') && pauseMs >= TOLD_PAUSE_MS)
        this.#options.onWait?.({ seconds: Math.ceil(pauseMs / 1000), status: response.status });
      await pause(pauseMs, undefined, { signal: this.#options.signal });
    }
  }

  /** Undefined where no answer came and another attempt is left. Every request here can be sent twice safely. */
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
        // A redirect would carry the token to where nobody sent it.
        redirect: 'manual',
        signal: this.#signalOf(method),
      });
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (!last) return undefined;
      const message = `${this.#baseUrl} does not answer: ${reasonOf(error)}`;
      throw new ApiFailure(message, { cause: error, afterLostAnswer: true });
    }
  }

  #signalOf(method: string): AbortSignal {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const { signal } = this.#options;
    return signal && method === 'GET' ? AbortSignal.any([signal, timeout]) : timeout;
  }

  async #read({ method, path }: ApiRequest, response: Response, attempt: number): Promise<Answer> {
    const request = `${method} ${this.#baseUrl}${path.split('?', 1)[0]}`;
    const envelope = parse(await response.text());
    const etag = response.headers.get('etag') ?? undefined;
    // A deletion whose first answer was lost finds nothing the second time.
    const gone = method === 'DELETE' && response.status === 404 && attempt > 1;
    if (!response.ok && !gone) throw failureOf({ status: response.status, envelope, request, attempt });
    if (envelope === undefined && !gone)
      throw new ApiFailure(`${request}: the answer is not JSON; check the URL`);
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { envelope, etag, replayed, request };
  }
}

function isPassing(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** What the server asks for in seconds or as a date (RFC 9110, 10.2.3), else our own. */
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

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // fetch says only "fetch failed"; what happened is in the cause.
  return error.cause instanceof Error ? error.cause.message || String(error.cause) : error.message;
}
