import { Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import {
  type FloodgateOptions,
  type FloodgateProcess,
  startFloodgateProcess,
  TOKEN,
} from '../../support/startFloodgate.ts';
import { until } from '../../support/until.ts';
import { processTree } from './processes.ts';

/** A server with workers and a separate port for operators. */
export interface WorkersServer extends FloodgateProcess {
  readonly opsUrl: string;
  readonly pid: number;
  /** Returns the process ids of its workers. */
  workers(): number[];
  metrics(): Promise<string>;
  /** Calls the rules API. */
  operate(method: string, path: string, body?: unknown): Promise<{ status: number; result: unknown }>;
}

export async function startWorkersServer(options: FloodgateOptions, workers = 3): Promise<WorkersServer> {
  const args = ['--workers', String(workers), '--ops-port', '0', ...(options.args ?? [])];
  const server = await startFloodgateProcess({ ...options, args, whenListening: true });
  const opsUrl = /"opsUrl":"([^"]+)"/.exec(server.output())?.[1] ?? '';
  const pid = server.process.pid ?? 0;
  await until('a ready server', async () => (await fetch(`${opsUrl}/readyz`)).status === 200);
  return {
    ...server,
    opsUrl,
    pid,
    workers: () => processTree(pid).slice(1),
    metrics: async () => (await fetch(`${opsUrl}/metrics`)).text(),
    async operate(method, path, body) {
      const answer = await fetch(`${opsUrl}/client/v4${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { result } = (await answer.json()) as { result: unknown };
      return { status: answer.status, result };
    },
  };
}

/** A JSON-RPC response. */
interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A kept-alive connection: the same worker answers all requests until the connection is closed. */
export class KeepAliveConnection {
  readonly #agent: Agent;
  readonly #request: typeof httpRequest;
  readonly #url: string;
  /** Local port of the current connection. Undefined while connecting; changes after a reconnect. */
  port: number | undefined;

  /** `ca`: trusted certificates for HTTPS. */
  constructor(url: string, { ca }: { readonly ca?: Buffer } = {}) {
    const options = { keepAlive: true, maxSockets: 1 };
    this.#url = url;
    this.#agent = ca === undefined ? new Agent(options) : new TlsAgent({ ...options, ca });
    this.#request = ca === undefined ? httpRequest : httpsRequest;
  }

  /** Rejects if the connection closes before the response. */
  post(
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const request = this.#request(
        this.#url,
        { method: 'POST', agent: this.#agent, headers: { 'content-type': 'application/json', ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          );
        },
      );
      request.on('error', reject);
      request.on('socket', (socket) => {
        const connected = (): void => {
          this.port = socket.localPort;
        };
        if (!socket.connecting) return connected();
        this.port = undefined;
        socket.once('connect', connected);
      });
      request.end(JSON.stringify(body));
    });
  }

  /** Returns the result of a call, or undefined for an error. */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    return (await this.answer(method, ...params)).result;
  }

  async answer(method: string, ...params: readonly unknown[]): Promise<RpcAnswer> {
    const { text } = await this.post({ jsonrpc: '2.0', id: 1, method, params });
    return JSON.parse(text) as RpcAnswer;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Sends requests one after the other over one connection until it is stopped. */
export class SteadyLoad {
  answers = 0;
  readonly lost: string[] = [];
  readonly #connection: KeepAliveConnection;
  readonly #running: Promise<void>;
  #isFinished = false;

  constructor(url: string, body: unknown) {
    this.#connection = new KeepAliveConnection(url);
    this.#running = this.#run(body);
  }

  async #run(body: unknown): Promise<void> {
    while (!this.#isFinished)
      await this.#connection.post(body).then(
        ({ status, text }) => {
          if (status === 200) this.answers++;
          else this.lost.push(`${status} ${text}`);
        },
        (error: Error) => this.lost.push(error.message),
      );
  }

  get port(): number | undefined {
    return this.#connection.port;
  }

  /** Waits for a number of further responses. */
  async further(answers: number): Promise<void> {
    const wanted = this.answers + answers;
    await until('further responses', () => this.answers >= wanted);
  }

  async stop(): Promise<void> {
    this.#isFinished = true;
    await this.#running;
    this.#connection.close();
  }
}
