import { Pool } from 'undici';
import { nodeAddress, refusalText } from './nodeAddress.ts';
import { NodeError } from './source.ts';

/** A node that needs longer for an answer is taken for dead; trace_block of a full mainnet block takes a few seconds. */
const ANSWER_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
const CONNECTIONS = 16;
/** Largest answer that is taken in: the traces of the heaviest blocks known stay well below. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** Of a node's own words, what an error repeats. */
const MAX_QUOTED_LENGTH = 200;

/** A call for a node: its method and its parameters. */
export type NodeCall = readonly [method: string, ...params: readonly unknown[]];

/** What a node answered to one call. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** A node's JSON-RPC interface over HTTP. Its URL may hold a key or a password, so it appears in no message. */
export class NodeClient {
  /** The node's host and port, to be shown in logs. */
  readonly name: string;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #pool: Pool;
  /** Not every node does, nor every proxy before one. */
  #takesBatches = true;

  constructor(url: string) {
    const { origin, host, path, headers } = nodeAddress(url);
    this.name = host;
    this.#path = path;
    this.#headers = headers;
    this.#pool = new Pool(origin, {
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** The result of one call. Rejects with NodeError; a node's own error is one of reason `refused`. */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const [answer] = await this.batch([[method, ...params]]);
    return resultOf(method, answer);
  }

  /** The answers to several calls, in their order, asked for in one request. Rejects with NodeError. */
  async batch(calls: readonly NodeCall[]): Promise<NodeAnswer[]> {
    if (calls.length > 1 && !this.#takesBatches) return this.#oneByOne(calls);
    const requests = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
    const answers = await this.#post(requests.length === 1 ? requests[0] : requests);
    if (calls.length > 1 && refusesBatch(answers)) {
      this.#takesBatches = false;
      return this.#oneByOne(calls);
    }
    const list: unknown[] = requests.length === 1 ? [answers] : Array.isArray(answers) ? answers : [];
    const byId = new Map(list.filter(isAnswerObject).map((answer) => [answer['id'], answer]));
    return calls.map(([method], id) => {
      const answer = byId.get(id);
      if (answer === undefined) throw new NodeError('nonsense', `${this.name} gave no answer to ${method}`);
      return readAnswer(answer, method, this.name);
    });
  }

  async #oneByOne(calls: readonly NodeCall[]): Promise<NodeAnswer[]> {
    const answers = await Promise.all(calls.map((call) => this.batch([call])));
    return answers.flat();
  }

  async #post(body: unknown): Promise<unknown> {
    try {
      const response = await this.#pool.request({
        path: this.#path,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      const { statusCode } = response;
      if (statusCode >= 500 || statusCode === 429 || statusCode === 401)
        throw new NodeError('refused', refusalText(this.name, statusCode));
      return parse(text, this.name, statusCode);
    } catch (error) {
      throw asNodeError(error, this.name);
    }
  }
}

/** JSON-RPC's codes of what is no request, no JSON, and no method to the one that answers. */
const INVALID_REQUEST = -32_600;
const PARSE_ERROR = -32_700;
export const METHOD_NOT_FOUND = -32_601;
const REFUSALS_OF_BATCHES = new Set<unknown>([INVALID_REQUEST, PARSE_ERROR, METHOD_NOT_FOUND]);

/** Whether a batch was refused as such: with one error for all of it, which says that this is no request. */
export function refusesBatch(answer: unknown): boolean {
  const error = isAnswerObject(answer) ? answer['error'] : undefined;
  return isAnswerObject(error) && REFUSALS_OF_BATCHES.has(error['code']);
}

/** The result of an answer. Throws NodeError where it is an error. */
export function resultOf(method: string, answer: NodeAnswer | undefined): unknown {
  if (answer === undefined) throw new NodeError('nonsense', `no answer to ${method}`);
  if ('result' in answer) return answer.result;
  throw new NodeError('refused', `${method}: ${answer.error.message} (code ${answer.error.code})`);
}

const isAnswerObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function readAnswer(answer: Record<string, unknown>, method: string, name: string): NodeAnswer {
  const { result, error } = answer;
  if (isAnswerObject(error)) {
    const { code, message, data } = error;
    return {
      error: {
        code: typeof code === 'number' && Number.isInteger(code) ? code : -32000,
        message: typeof message === 'string' ? message.slice(0, MAX_QUOTED_LENGTH) : 'no message',
        ...(data !== undefined && { data }),
      },
    };
  }
  if (result === undefined)
    throw new NodeError('nonsense', `${name} answered ${method} with neither result nor error`);
  return { result };
}

function parse(text: string, name: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A wrong path or a page in between speaks by its status.
    const withStatus = status === 200 ? '' : ` and HTTP status ${status}`;
    throw new NodeError('nonsense', `${name} answered with something that is not JSON${withStatus}`, {
      cause,
    });
  }
}

function asNodeError(error: unknown, name: string): NodeError {
  if (error instanceof NodeError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new NodeError('oversized', `${name} answered with more than ${MAX_ANSWER_BYTES} bytes`, {
      cause: error,
    });
  if (code.includes('TIMEOUT'))
    return new NodeError('timeout', `${name} did not answer in time (${code})`, { cause: error });
  return new NodeError('unreachable', `${name} cannot be reached or broke off (${code || String(error)})`, {
    cause: error,
  });
}
