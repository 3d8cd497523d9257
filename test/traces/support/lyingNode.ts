import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** One call of a request, with what the real node answered to it. */
export interface Answered {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** What the node does in place of answering: nothing at all, or something that is no answer. */
export type Fault = (response: ServerResponse, text: string) => void;

export interface LyingNode {
  readonly url: string;
  /** The real node behind; may be changed for one that was started anew. */
  upstream: string;
  /** Replaces results. Undefined: tells the truth. */
  lie: ((answer: Answered) => unknown) | undefined;
  /** Replaces the whole HTTP answer. Undefined: answers. */
  fault: Fault | undefined;
  /** What every answer waits for: a slow node. */
  slowness: Promise<unknown> | undefined;
  /** Methods that it was asked for, answered or not. */
  readonly asked: Set<string>;
  stop(): Promise<void>;
}

/**
 * A fake in part: a real node behind a proxy that lies, breaks off or dawdles when it is told to, which no real node can
 * be made to do. Port 0 takes a free one.
 */
export async function startLyingNode(upstream: string, port = 0): Promise<LyingNode> {
  const server = createServer((request, response) => {
    answer(node, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const node: LyingNode = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    upstream,
    lie: undefined,
    fault: undefined,
    slowness: undefined,
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

async function answer(node: LyingNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set: chunks are buffers
  const body = Buffer.concat(chunks).toString();
  const calls = JSON.parse(body) as Call | Call[]; // Floodgate sends nothing else
  for (const { method } of [calls].flat()) node.asked.add(method);
  await node.slowness;
  const headers = { 'content-type': 'application/json' };
  const truth = await (await fetch(node.upstream, { method: 'POST', headers, body })).text();
  const text = node.lie === undefined ? truth : told(node.lie, calls, JSON.parse(truth));
  if (node.fault === undefined) response.writeHead(200, headers).end(text);
  else node.fault(response, text);
}

function told(
  lie: (answer: Answered) => unknown,
  asked: Call | Call[],
  truth: Answered | Answered[],
): string {
  const calls = new Map([asked].flat().map((call) => [call.id, call]));
  const lieTo = (one: Answered): unknown => {
    const call = calls.get(one.id);
    return call === undefined ? one : { ...one, result: lie({ ...call, result: one.result }) };
  };
  return JSON.stringify(Array.isArray(truth) ? truth.map(lieTo) : lieTo(truth));
}
