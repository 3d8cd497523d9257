import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** For all of it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a collector has made of a request. */
export type Posted =
  | { readonly kind: 'taken'; readonly body: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string; readonly retryAfterMs: number | undefined };

/** Statuses with which OTLP asks to send the same again. */
const LATER = new Set([429, 502, 503, 504]);
/** An answer tells how many were rejected, and why; more is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** One request at a time: one connection, which is kept. */
const KEPT = { keepAlive: true, maxSockets: 1 };
const AGENTS = { http: new HttpAgent(KEPT), https: new HttpsAgent(KEPT) };

/** Posts a body once. No redirect is followed. Never rejects. */
export function postJson(url: URL, body: string, options: PostOptions): Promise<Posted> {
  const { headers, timeoutMs, signal } = options;
  const isSecure = url.protocol === 'https:';
  return new Promise((settle) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      agent: isSecure ? AGENTS.https : AGENTS.http,
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    });
    const later = (reason: string): void => end({ kind: 'later', reason, retryAfterMs: undefined });
    const timer = setTimeout(() => {
      later(`no answer within ${timeoutMs} ms`);
      request.destroy();
    }, timeoutMs);
    const end = (posted: Posted): void => {
      clearTimeout(timer);
      settle(posted);
    };
    request.on('error', (error: NodeJS.ErrnoException) => later(error.code ?? error.name));
    request.on('response', (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('error', (error: NodeJS.ErrnoException) => later(error.code ?? error.name));
      response.on('data', (text: string) => {
        answer += text;
        if (answer.length > MAX_ANSWER_BYTES) response.destroy();
      });
      response.on('close', () => {
        const { statusCode = 0 } = response;
        const reason = `HTTP status ${statusCode}`;
        if (statusCode >= 200 && statusCode < 300) return end({ kind: 'taken', body: answer });
        if (!LATER.has(statusCode)) return end({ kind: 'refused', reason });
        end({ kind: 'later', reason, retryAfterMs: retryAfterOf(response.headers['retry-after']) });
      });
    });
    request.end(body);
  });
}

const retryAfterOf = (header: string | undefined): number | undefined =>
  /^\d{1,5}$/.test(header ?? '') ? Number(header) * 1_000 : undefined;
