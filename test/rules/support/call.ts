import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { Conformance } from './conformance.ts';
import { type RulesServer, TOKEN } from './server.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body, or undefined if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  /** Path below the base URL, sent without further encoding. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  /** Default: the configured token. Null sends no `Authorization`. */
  readonly token?: string | null;
}

const conformances = new Map<string, Promise<Conformance>>();

/** Returns the checker for the OpenAPI document of a server, cached by base URL. */
function conformanceOf(server: Pick<RulesServer, 'baseUrl'>): Promise<Conformance> {
  const known = conformances.get(server.baseUrl);
  if (known) return known;
  const made = send(server, { path: '/openapi.json' }).then((answer) => new Conformance(answer.json));
  conformances.set(server.baseUrl, made);
  return made;
}

/** Sends one HTTP request without any changes. Throws if the response violates the server's own OpenAPI document. */
export async function call(server: Pick<RulesServer, 'baseUrl'>, options: Call): Promise<Answer> {
  const answer = await send(server, options);
  const method = options.method ?? 'GET';
  if (method === 'HEAD') return answer;
  const faults = (await conformanceOf(server)).faultsOf(method, options.path, answer);
  if (faults.length > 0)
    throw new Error(`the response violates the OpenAPI document: ${faults.join('; ')}\n${answer.text}`);
  return answer;
}

/** Sends one HTTP request like `call`, but does not check the response. */
export function send(server: Pick<RulesServer, 'baseUrl'>, options: Call): Promise<Answer> {
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
