import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { WebSocket } from 'ws';
import { until } from '../../support/until.ts';

/** A message of the gateway, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
export type Message = any;

/** A plain WebSocket to the gateway and its received messages. */
export interface WebSocketClient {
  readonly socket: WebSocket;
  readonly messages: readonly Message[];
  /** Returns the response to a call, a result or an error. */
  call(method: string, ...params: readonly unknown[]): Promise<Message>;
  /** Notifications of a subscription, in order. */
  notificationsOf(subscription: string): Message[];
  /** Close code and reason. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): void;
}

export const webSocketUrl = (gatewayUrl: string): string => gatewayUrl.replace(/^http/, 'ws');

export async function openWebSocket(
  gatewayUrl: string,
  headers: OutgoingHttpHeaders = {},
  { localAddress }: { readonly localAddress?: string } = {},
): Promise<WebSocketClient> {
  const socket = new WebSocket(webSocketUrl(gatewayUrl), {
    headers: headers as Record<string, string>, // tests pass no lists
    ...(localAddress !== undefined && { localAddress }),
  });
  const messages: Message[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  socket.on('message', (bytes) => messages.push(JSON.parse(bytes.toString())));
  await once(socket, 'open');
  socket.on('error', () => undefined); // some tests cut the connection
  let id = 0;
  return {
    socket,
    messages,
    closed,
    async call(method, ...params) {
      const own = ++id;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: own, method, params }));
      return until(`the response to call ${own} of ${method}`, () =>
        messages.find((message) => message.id === own),
      );
    },
    notificationsOf: (subscription) =>
      messages
        .filter(({ params }) => params?.subscription === subscription)
        .map(({ params }) => params.result),
    close: () => socket.terminate(),
  };
}
