import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { Conformance } from './conformance.ts';
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

const conformances = new Map<string, Promise<Conformance>>();

/** Of a server by its base URL, made from the document that it serves. */
function conformanceOf(server: Pick<RulesServer, 'baseUrl'>): Promise<Conformance> {
  const known = conformances.get(server.baseUrl);
  if (known) return known;
  const made = send(server, { path: '/openapi.json' }).then((answer) => new Conformance(answer.json));
  conformances.set(server.baseUrl, made);
  return made;
}

/**
 * One request over real HTTP, without any client's help or opinion. Throws where the answer is not as the server's
 * own OpenAPI document says.
 */
export async function call(server: Pick<RulesServer, 'baseUrl'>, options: Call): Promise<Answer> {
  const answer = await send(server, options);
  const method = options.method ?? 'GET';
  if (method === 'HEAD') return answer;
  const faults = (await conformanceOf(server)).faultsOf(method, options.path, answer);
  if (faults.length > 0) throw new Error(`not as documented: ${faults.join('; ')}\n${answer.text}`);
  return answer;
}

/** The same without a look at the document. */
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
