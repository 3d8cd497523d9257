import type { ServerResponse } from 'node:http';
import { startHttpServer } from '../../support/httpServer.ts';

/** What a node does with one request: `answer` is what the real node says. Returns what is sent instead. */
export type Spoil = (
  request: { readonly methods: readonly string[]; readonly body: string },
  answer: () => Promise<string>,
  response: ServerResponse,
) => Promise<string | undefined> | string | undefined;

export interface SpoiltNode {
  readonly url: string;
  /** Requests by method, polls included. */
  readonly counts: ReadonlyMap<string, number>;
  /** What is done from now on; undefined for what the real node does. */
  spoil: Spoil | undefined;
  stop(): Promise<void>;
}

/** Stands before a real node and does what no real node can be told to do: lies, garbage, half answers. */
export async function startSpoiltNode(upstream: string): Promise<SpoiltNode> {
  const counts = new Map<string, number>();
  const node = { spoil: undefined as Spoil | undefined };
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
    get spoil() {
      return node.spoil;
    },
    set spoil(spoil) {
      node.spoil = spoil;
    },
  };
}
