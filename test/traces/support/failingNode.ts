import { type InterceptedNode, startInterceptedNode } from '../../gateway/support/interceptedNode.ts';

/** Exceeds the maximum size of a response that Floodgate reads. */
const TOO_LARGE_BYTES = 2 ** 31;

export type NodeFailure = 'error' | 'timeout' | 'too large' | 'a trace is missing';

export interface FailingNode extends Pick<InterceptedNode, 'url' | 'stop'> {
  /** Blocks that the node fails to trace, and how. */
  readonly failsAt: Map<number, NodeFailure>;
  /** Number of requests to trace a block. */
  tracedTimes(blockNumber: number): number;
}

/** Starts a proxy of a real node that fails to trace some blocks. */
export async function startFailingNode(upstream: string): Promise<FailingNode> {
  const node = await startInterceptedNode(upstream);
  const failsAt = new Map<number, NodeFailure>();
  const times = new Map<number, number>();
  node.intercept = async ({ body }, answer, response) => {
    const calls = [JSON.parse(body)].flat() as readonly Call[]; // Floodgate sends only JSON-RPC calls
    const traced = calls.find(
      ({ method }) => method.startsWith('trace_') || method.startsWith('debug_trace'),
    );
    if (traced === undefined) return answer();
    // Methods that take a hash are rejected: they are used only after trace_block failed, and the number is unknown here.
    const block = traced.method === 'trace_block' ? Number(traced.params[0]) : Number.NaN;
    times.set(block, (times.get(block) ?? 0) + 1);
    switch (failsAt.get(block)) {
      case undefined:
        return traced.method === 'trace_block' ? answer() : refused(calls, traced);
      case 'error':
        return change(await answer(), traced.id, { error: { code: -32_000, message: 'out of memory' } });
      case 'timeout':
        response.writeHead(504).end();
        return undefined;
      case 'too large':
        response.writeHead(200, { 'content-length': TOO_LARGE_BYTES }).write('[');
        return undefined;
      default:
        return change(await answer(), traced.id, { result: [] });
    }
  };
  return {
    url: node.url,
    stop: () => node.stop(),
    failsAt,
    tracedTimes: (blockNumber) => times.get(blockNumber) ?? 0,
  };
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const refused = (calls: readonly Call[], { id, method }: Call): string => {
  const answer = { jsonrpc: '2.0', id, error: { code: -32_601, message: `${method} does not exist` } };
  return JSON.stringify(calls.length === 1 ? answer : [answer]);
};

/** Replaces the result or error of one call in a response. */
function change(text: string, id: number, outcome: object): string {
  const changed = (response: { id: number }): object =>
    response.id === id ? { jsonrpc: '2.0', id, ...outcome } : response;
  const parsed = JSON.parse(text) as { id: number } | { id: number }[];
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(changed) : changed(parsed));
}
