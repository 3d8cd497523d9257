import { request } from 'undici';

export type Call = readonly [method: string, ...params: readonly unknown[]];

/** JSON-RPC connection to a development node. Responses are not validated, because Floodgate has started the node. */
export interface Node {
  readonly url: string;
  /** Returns the result of one call. Rejects with NodeError, which has the node's message. */
  call<Result = unknown>(method: string, ...params: readonly unknown[]): Promise<Result>;
  /** Sends the calls as one batch. Returns the results in call order. Rejects with NodeError if a call failed. */
  batch<Result = unknown>(calls: readonly Call[]): Promise<Result[]>;
}

export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly code: number;

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (code ${code})`);
    this.code = code;
  }
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export function connect(url: string): Node {
  const post = async (body: unknown): Promise<unknown> => {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.body.json();
  };
  const batch = async <Result>(calls: readonly Call[]): Promise<Result[]> => {
    if (calls.length === 0) return [];
    const requests = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
    // JSON-RPC 2.0, 6: responses of a batch may be in any order.
    const posted = await post(requests);
    if (!Array.isArray(posted))
      throw new NodeError('batch', 0, `the batch response is not an array: ${JSON.stringify(posted)}`);
    const answers = new Map((posted as Answer[]).map((answer) => [answer.id, answer]));
    return calls.map(([method], id) => {
      const answer = answers.get(id);
      if (!answer) throw new NodeError(method, 0, 'no response in the batch');
      if (answer.error) throw new NodeError(method, answer.error.code, answer.error.message);
      return answer.result as Result; // the caller knows the result type of the method
    });
  };
  const call = async <Result>(method: string, ...params: readonly unknown[]): Promise<Result> => {
    const [result] = await batch<Result>([[method, ...params]]);
    return result as Result; // one call, one result
  };
  return { url, call, batch };
}
