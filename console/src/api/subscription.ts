/** Subscriptions of the gateway, over a WebSocket that reconnects when it is closed. */
import { gatewayPathOf } from './credentials.ts';
import { pathOfNetwork } from './rpc.ts';

const RETRY_MS = 1_000;

export interface SubscriptionHandlers<T> {
  readonly pushed: (value: T) => void;
  /** Called when the connection is established or lost. After `lost`, no events arrive until the next `open`. */
  readonly state: (state: 'open' | 'lost') => void;
}

export function subscribe<T>(
  network: string,
  params: readonly unknown[],
  { pushed, state }: SubscriptionHandlers<T>,
): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  const open = (): void => {
    socket = new WebSocket(urlOf(network));
    socket.onopen = () =>
      socket?.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }));
    socket.onmessage = ({ data }) => {
      const message = readMessage<T>(data);
      if (message?.id === 1 && 'result' in message) state('open');
      if (message?.id === 1 && 'error' in message) socket?.close();
      if (message?.params !== undefined) pushed(message.params.result);
    };
    socket.onclose = () => {
      if (isEnded) return;
      state('lost');
      timer = setTimeout(open, RETRY_MS);
    };
  };
  open();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    // Browsers log a warning if a connection is closed before it is established.
    const last = socket;
    if (last?.readyState === WebSocket.CONNECTING) last.onopen = () => last.close();
    else last?.close();
  };
}

interface Message<T> {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly params?: { readonly result: T };
}

function readMessage<T>(data: unknown): Message<T> | undefined {
  try {
    return JSON.parse(String(data)) as Message<T>;
  } catch {
    return undefined;
  }
}

function urlOf(network: string): string {
  const url = new URL(gatewayPathOf(pathOfNetwork(network)), location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return url.href;
}
