import { type HttpServer, startHttpServer } from '../support/httpServer.ts';

/** The running fake node; tests stop it. */
export type Player = HttpServer;

type Json = Record<string, unknown>;

/** Returns the result of a call; undefined for a method that the recorded node does not have. Throws a node's error. */
export type Answer = (method: string, params: readonly unknown[]) => unknown;

/** Starts a fake node over HTTP whose results come from the given function. */
export async function startFakeNode(answer: Answer): Promise<Player> {
  const respond = ({ id, method, params }: { id: number; method: string; params: unknown[] }): Json => {
    try {
      const result = answer(method, params);
      const error = { code: -32_601, message: `the method ${method} does not exist` };
      return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: -32_000, message: String(error) } };
    }
  };
  return startHttpServer((text, _request, response) => {
    const body = JSON.parse(text);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(Array.isArray(body) ? body.map(respond) : respond(body)));
  });
}
