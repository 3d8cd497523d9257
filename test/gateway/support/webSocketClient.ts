import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { WebSocket } from 'ws';
import { until } from '../../support/until.ts';

/** A message of the gateway, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Message = any;

/** A plain WebSocket to the gateway, with what came over it. */
export interface WebSocketClient {
  readonly socket: WebSocket;
  readonly messages: readonly Message[];
  /** The result, or the error, of a call. */
  call(method: string, ...params: readonly unknown[]): Promise<Message>;
  /** What came of a subscription, in order. */
  pushed(subscription: string): Message[];
  /** Code and reason, once it is closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): void;
}

export const webSocketUrl = (gatewayUrl: string): string => gatewayUrl.replace(/^http/, 'ws');

export async function openWebSocket(
  gatewayUrl: string,
  headers: OutgoingHttpHeaders = {},
): Promise<WebSocketClient> {
  const socket = new WebSocket(webSocketUrl(gatewayUrl), { headers: headers as Record<string, string> }); // no lists among them
  const messages: Message[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  socket.on('message', (bytes) => messages.push(JSON.parse(bytes.toString())));
  await once(socket, 'open');
  socket.on('error', () => undefined); // a cut is what some tests are about
  let id = 0;
  return {
    socket,
    messages,
    closed,
    async call(method, ...params) {
      const own = ++id;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: own, method, params }));
      return until(`call ${own} of ${method} is answered`, () =>
        messages.find((message) => message.id === own),
      );
    },
    pushed: (subscription) =>
      messages
        .filter(({ params }) => params?.subscription === subscription)
        .map(({ params }) => params.result),
    close: () => socket.terminate(),
  };
}
