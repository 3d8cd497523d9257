import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

/** Sends one request with node:http on a new connection; no client library changes it. */
export function send(url: string, { method = 'POST', headers, body }: SendOptions): Promise<Answer> {
  const payload =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method, agent: false, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers: received } = response;
          resolve({ status, headers: received, text, json: text === '' ? undefined : JSON.parse(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

/** Sends a JSON-RPC call and returns the response. */
export async function call(url: string, method: string, ...params: readonly unknown[]): Promise<Answer> {
  return send(url, { body: { jsonrpc: '2.0', id: 1, method, params } });
}
