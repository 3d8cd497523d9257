import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** One call of a request with the real node's result. */
export interface AnsweredCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** Handles the HTTP response in place of the node, for example closes it or sends invalid JSON. */
export type ResponseHandler = (response: ServerResponse, text: string) => void;

export interface FaultyNode {
  readonly url: string;
  /** URL of the real node; can be changed, for example after a restart. */
  upstream: string;
  /** Replaces results; undefined returns those of the real node. */
  replaceResult: ((answer: AnsweredCall) => unknown) | undefined;
  /** Replaces the HTTP response; undefined sends the response. */
  replaceResponse: ResponseHandler | undefined;
  /** Delays every response until this promise resolves. */
  delay: Promise<unknown> | undefined;
  /** Methods that were requested. */
  readonly asked: Set<string>;
  stop(): Promise<void>;
}

/**
 * Starts a proxy of a real node that can falsify, replace and delay responses.
 * Port 0 selects a free port.
 */
export async function startFaultyNode(upstream: string, port = 0): Promise<FaultyNode> {
  const server = createServer((request, response) => {
    answer(node, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const node: FaultyNode = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    upstream,
    replaceResult: undefined,
    replaceResponse: undefined,
    delay: undefined,
    asked: new Set(),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return node;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

async function answer(node: FaultyNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // Buffers, because no encoding is set
  const body = Buffer.concat(chunks).toString();
  const calls = JSON.parse(body) as Call | Call[]; // Floodgate sends only JSON-RPC calls
  for (const { method } of [calls].flat()) node.asked.add(method);
  await node.delay;
  const headers = { 'content-type': 'application/json' };
  const truth = await (await fetch(node.upstream, { method: 'POST', headers, body })).text();
  const text =
    node.replaceResult === undefined ? truth : replaceResults(node.replaceResult, calls, JSON.parse(truth));
  if (node.replaceResponse === undefined) response.writeHead(200, headers).end(text);
  else node.replaceResponse(response, text);
}

function replaceResults(
  lie: (answer: AnsweredCall) => unknown,
  asked: Call | Call[],
  truth: AnsweredCall | AnsweredCall[],
): string {
  const calls = new Map([asked].flat().map((call) => [call.id, call]));
  const lieTo = (one: AnsweredCall): unknown => {
    const call = calls.get(one.id);
    return call === undefined ? one : { ...one, result: lie({ ...call, result: one.result }) };
  };
  return JSON.stringify(Array.isArray(truth) ? truth.map(lieTo) : lieTo(truth));
}
