import { FloodgateHttpError, resultIn } from './errors.ts';
import { pause } from './pause.ts';
import type { CallOptions, Requester, RpcRequest } from './requester.ts';

export interface HttpOptions {
  /** URL of one network of a gateway, such as `http://127.0.0.1:8420/v1/mainnet`. */
  readonly url: string;
  /** API key. Required if the gateway has API keys. */
  readonly key?: string | undefined;
  /** Timeout of each attempt of a call. Default: 60 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries of a call after HTTP status 429 or 503. Default: 3. */
  readonly maxRetries?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RETRIES = 3;
/** Delay before a retry if the response has no Retry-After header. */
const RETRY_MS = 1_000;
/** Maximum delay before a retry. If the gateway requests a longer delay, the call fails without a retry. */
const MAX_RETRY_AFTER_MS = 30_000;

const RETRIED = [429, 503];

/** Returns a requester that makes calls over HTTP. The client's methods only read, so each call can be retried. */
export function httpRequester(options: HttpOptions): Requester {
  const { maxRetries = DEFAULT_MAX_RETRIES } = options;
  return {
    async request(request: RpcRequest, { signal }: CallOptions = {}) {
      for (let left = maxRetries; ; left--) {
        const { response, retryAfterMs } = await attempt(options, request, signal);
        if (retryAfterMs === undefined || left <= 0) return resultOf(response);
        await response.body?.cancel();
        await pause(retryAfterMs, signal);
      }
    },
  };
}

async function attempt(
  { url, key, timeoutMs = DEFAULT_TIMEOUT_MS }: HttpOptions,
  { method, params }: RpcRequest,
  signal: AbortSignal | undefined,
): Promise<{ readonly response: Response; readonly retryAfterMs: number | undefined }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  return { response, retryAfterMs: RETRIED.includes(response.status) ? retryAfterIn(response) : undefined };
}

/** Returns the delay in milliseconds before a retry; undefined if the gateway requests more than the maximum. */
function retryAfterIn({ headers }: Response): number | undefined {
  const said = headers.get('retry-after');
  if (said === null) return RETRY_MS;
  const seconds = Number(said);
  const afterMs = Number.isNaN(seconds) ? Date.parse(said) - Date.now() : seconds * 1000;
  return afterMs <= MAX_RETRY_AFTER_MS ? Math.max(afterMs, 0) : undefined;
}

async function resultOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const answered = resultIn(parsed(text));
  if (answered === undefined) throw new FloodgateHttpError(response.status);
  return answered.result;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
