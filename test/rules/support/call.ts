import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { type RulesServer, TOKEN } from './server.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined where it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  /** Below the base URL; sent as it is, encoded or not. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as it is where a string or bytes, as JSON otherwise. */
  readonly body?: unknown;
  /** Null sends no `Authorization`. */
  readonly token?: string | null;
}

/** One request over real HTTP, without any client's help or opinion. */
export function call(server: Pick<RulesServer, 'baseUrl'>, options: Call): Promise<Answer> {
  const { hostname, port, pathname } = new URL(server.baseUrl);
  const token = options.token === undefined ? TOKEN : options.token;
  const payload = payloadOf(options.body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: hostname,
        port,
        method: options.method ?? 'GET',
        path: pathname + options.path,
        agent: false,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(payload && !options.headers?.['transfer-encoding'] && { 'content-length': payload.length }),
          ...options.headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: text === '' ? undefined : JSON.parse(text),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

function payloadOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
