import { Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { GATEWAY_PATH, RULES_BASE, rpcCall, type Target } from '../target.ts';

interface Sent {
  readonly body?: unknown;
  readonly token?: string;
}

/** One kept-alive connection from `localAddress`. */
export class HttpClient {
  readonly #target: Target;
  readonly #request: typeof httpRequest;
  readonly #agent: Agent;
  readonly #localAddress: string;

  constructor(target: Target, localAddress: string) {
    const isTls = target.url.startsWith('https:');
    const options = { keepAlive: true, maxSockets: 1 };
    this.#target = target;
    this.#localAddress = localAddress;
    this.#request = isTls ? httpsRequest : httpRequest;
    this.#agent = isTls ? new TlsAgent({ ...options, rejectUnauthorized: false }) : new Agent(options);
  }

  /** Rejects if the status is not 200. */
  async send(method: string, path: string, sent: Sent = {}): Promise<string> {
    const { status, text } = await this.#answer(method, path, sent);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text;
  }

  /** Returns the result of a JSON-RPC call. */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const text = await this.send('POST', GATEWAY_PATH, { body: rpcCall(method, params) });
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown };
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Returns the result of a request to the rules API. */
  async operate<T>(method: string, path: string, sent: Sent): Promise<T> {
    const text = await this.send(method, RULES_BASE + path, sent);
    return (JSON.parse(text) as { result: T }).result;
  }

  close(): void {
    this.#agent.destroy();
  }

  #answer(method: string, path: string, { body, token }: Sent): Promise<{ status: number; text: string }> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.#agent, localAddress: this.#localAddress };
      const request = this.#request(this.#target.url + path, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
      });
      request.on('error', reject);
      request.end(payload);
    });
  }
}
