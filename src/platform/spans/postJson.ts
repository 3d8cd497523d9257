import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type PostResult =
  | { readonly kind: 'taken'; readonly body: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string; readonly retryAfterMs: number | undefined };

/** HTTP statuses after which OTLP permits a retry. */
const LATER = new Set([429, 502, 503, 504]);
/** Maximum bytes of a collector's response, which contains the number of rejected spans and the reason. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Options of the agents. Requests are sent one after the other, so one connection suffices. */
const KEPT = { keepAlive: true, maxSockets: 1 };
const AGENTS = { http: new HttpAgent(KEPT), https: new HttpsAgent(KEPT) };

/** Posts a JSON body once, without following redirects. Never rejects. */
export function postJson(url: URL, body: string, options: PostOptions): Promise<PostResult> {
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
      later(`no response within ${timeoutMs} ms`);
      request.destroy();
    }, timeoutMs);
    const end = (posted: PostResult): void => {
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
