import { request } from 'undici';

/** One JSON-RPC call: its method and its params. */
export type Call = readonly [method: string, ...params: readonly unknown[]];

/** A JSON-RPC connection to a development node. Trusted: it runs on this machine, for us. */
export interface Node {
  readonly url: string;
  /** The result of one call. @throws NodeError with the node's own message. */
  call<Result = unknown>(method: string, ...params: readonly unknown[]): Promise<Result>;
  /** The results of many calls, in their order, sent as one batch. @throws NodeError of the first that failed. */
  batch<Result = unknown>(calls: readonly Call[]): Promise<Result[]>;
}

/** What a node answered in place of a result. */
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
    // The node's answer to a batch is a list of answers; nodes may give them in any order.
    const posted = await post(requests);
    if (!Array.isArray(posted))
      throw new NodeError('batch', 0, `no list of answers: ${JSON.stringify(posted)}`);
    const answers = new Map((posted as Answer[]).map((answer) => [answer.id, answer]));
    return calls.map(([method], id) => {
      const answer = answers.get(id);
      if (!answer) throw new NodeError(method, 0, 'no answer in the batch');
      if (answer.error) throw new NodeError(method, answer.error.code, answer.error.message);
      return answer.result as Result; // the caller knows what the method returns
    });
  };
  const call = async <Result>(method: string, ...params: readonly unknown[]): Promise<Result> => {
    const [result] = await batch<Result>([[method, ...params]]);
    return result as Result; // one call, one result
  };
  return { url, call, batch };
}
