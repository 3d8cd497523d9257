import type { ServerResponse } from 'node:http';
import { startHttpServer } from '../../support/httpServer.ts';

/** Handles one request: `answer` returns the real node's response. The returned text is sent instead. */
export type Interceptor = (
  request: { readonly methods: readonly string[]; readonly body: string },
  answer: () => Promise<string>,
  response: ServerResponse,
) => Promise<string | undefined> | string | undefined;

export interface InterceptedNode {
  readonly url: string;
  /** Requests by method, polls included. */
  readonly counts: ReadonlyMap<string, number>;
  /** Handler of the following requests; undefined forwards them to the real node. */
  intercept: Interceptor | undefined;
  stop(): Promise<void>;
}

/** Proxies a real node and sends faulty responses in its place: wrong results, invalid JSON, truncated bodies. */
export async function startInterceptedNode(upstream: string): Promise<InterceptedNode> {
  const counts = new Map<string, number>();
  const node = { spoil: undefined as Interceptor | undefined };
  const { url, stop } = await startHttpServer(async (body, _request, response) => {
    const entries = [JSON.parse(body)].flat() as readonly { readonly method: string }[];
    const methods = entries.map(({ method }) => method);
    for (const method of methods) counts.set(method, (counts.get(method) ?? 0) + 1);
    const answer = async (): Promise<string> => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(upstream, { method: 'POST', headers, body })).text();
    };
    try {
      const text =
        node.spoil === undefined ? await answer() : await node.spoil({ methods, body }, answer, response);
      if (text !== undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    } catch {
      response.destroy();
    }
  });
  return {
    url,
    stop,
    counts,
    get intercept() {
      return node.spoil;
    },
    set intercept(spoil) {
      node.spoil = spoil;
    },
  };
}
