import { createServer, type IncomingMessage } from 'node:http';

type Json = Record<string, unknown>;

export interface Player {
  readonly url: string;
  stop(): Promise<void>;
}

/** What is played back to a call; undefined for a method that the recorded node does not have. */
export type Answer = (method: string, params: readonly unknown[]) => unknown;

/** The HTTP side of a recording player, no node: it says what it was given to say. */
export async function startPlayer(answer: Answer): Promise<Player> {
  const respond = ({ id, method, params }: { id: number; method: string; params: unknown[] }): Json => {
    const result = answer(method, params);
    const error = { code: -32_601, message: `the method ${method} does not exist` };
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(Array.isArray(body) ? body.map(respond) : respond(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set: chunks are buffers
  return Buffer.concat(chunks).toString();
}
