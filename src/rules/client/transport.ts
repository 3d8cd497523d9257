import { ApiFailure, failureOf } from './apiFailure.ts';

/** A successful answer. */
export interface Answer {
  readonly envelope: unknown;
  readonly etag: string | undefined;
  /** What was asked, for messages. */
  readonly request: string;
}

interface SendOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long an answer may take: a write waits for the disk, nothing more. */
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 4;
/** First pause before a retry; doubled each time, unless the server says how long. */
const FIRST_PAUSE_MS = 250;
/** Longest pause that a server may ask for: a person waits. */
const MAX_PAUSE_MS = 30_000;

/** Sends requests and reads envelopes, trying again where the server is busy or out of reach for a moment. */
export class Transport {
  readonly #baseUrl: string;
  readonly #token: string;

  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#token = token;
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt === ATTEMPTS;
      const response = await this.#once(method, path, options, last);
      if (response && (last || !isPassing(response.status)))
        return this.#read(method, path, response, attempt);
      await response?.body?.cancel();
      await pause(response, attempt);
    }
  }

  /** Undefined where no answer came and another attempt is left. Every request here can be sent twice safely. */
  async #once(
    method: string,
    path: string,
    options: SendOptions,
    last: boolean,
  ): Promise<Response | undefined> {
    try {
      return await fetch(this.#baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
        // A redirect would carry the token to where nobody sent it.
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      if (!last) return undefined;
      throw new ApiFailure(`${this.#baseUrl} does not answer: ${reasonOf(error)}`, undefined, {
        cause: error,
      });
    }
  }

  async #read(method: string, path: string, response: Response, attempt: number): Promise<Answer> {
    const request = `${method} ${this.#baseUrl}${path.split('?', 1)[0]}`;
    const text = await response.text();
    const envelope = parse(text);
    const etag = response.headers.get('etag') ?? undefined;
    // A deletion whose first answer was lost finds nothing the second time.
    const gone = method === 'DELETE' && response.status === 404 && attempt > 1;
    if (!response.ok && !gone) throw failureOf(response.status, envelope, request);
    if (envelope === undefined && !gone)
      throw new ApiFailure(`${request}: the answer is not JSON; check the URL`);
    return { envelope, etag, request };
  }
}

function isPassing(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

async function pause(response: Response | undefined, attempt: number): Promise<void> {
  const asked = Number(response?.headers.get('retry-after') ?? Number.NaN) * 1000;
  const own = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  const milliseconds = Math.min(Number.isFinite(asked) ? asked : own, MAX_PAUSE_MS);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
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
