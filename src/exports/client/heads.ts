import { pause } from './pause.ts';

export interface Heads {
  /**
   * Resolves at the next head, or after a maximum wait. The wait is short while the newest indexed block (`indexed`)
   * is below the newest head.
   */
  next(indexed: number, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

/** What the WebSocket classes of browsers, Node 22 and the package `ws` have in common. */
export interface WebSocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  send(message: string): void;
  close(): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

export const polledHeads = (intervalMs: number): Heads => ({
  next: (_indexed, signal) => pause(intervalMs, signal),
  close: () => undefined,
});

/** Maximum wait for a head. It bounds the delay if the connection was lost, but not closed. */
const MAX_WAIT_MS = 15_000;
/** First wait for the index to reach an announced head. Each further wait is twice as long as the wait before. */
const FIRST_INDEX_WAIT_MS = 100;
const RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 30_000;

const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] });

/** Receives new heads over a WebSocket, and reconnects when the connection is closed. */
export class WebSocketHeads implements Heads {
  readonly #url: string;
  readonly #WebSocket: WebSocketConstructor;
  #socket: WebSocketLike | undefined;
  #head = 0;
  #isNew = false;
  #indexWaitMs = FIRST_INDEX_WAIT_MS;
  #reconnectMs = RECONNECT_MS;
  #reconnect: ReturnType<typeof setTimeout> | undefined;
  #wake: () => void = () => undefined;

  constructor(url: string, WebSocket: WebSocketConstructor) {
    this.#url = url;
    this.#WebSocket = WebSocket;
    this.#open();
  }

  async next(indexed: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#isNew) {
      const isBehind = indexed < this.#head && this.#indexWaitMs < MAX_WAIT_MS;
      const receive = new AbortController();
      this.#wake = () => receive.abort();
      const either = signal === undefined ? receive.signal : AbortSignal.any([signal, receive.signal]);
      await pause(isBehind ? this.#indexWaitMs : MAX_WAIT_MS, either).catch(() => signal?.throwIfAborted());
      if (isBehind) this.#indexWaitMs *= 2;
    }
    this.#isNew = false;
  }

  close(): void {
    clearTimeout(this.#reconnect);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #open(): void {
    const socket = new this.#WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => socket.send(SUBSCRIBE);
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.#reported(data);
    // If a connection cannot be opened, Node 22 fires only `error`. Other implementations fire `close`, too.
    const lost = (): void => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#reconnect = setTimeout(() => this.#open(), this.#reconnectMs);
      this.#reconnectMs = Math.min(2 * this.#reconnectMs, MAX_RECONNECT_MS);
    };
    socket.onerror = lost;
    socket.onclose = lost;
  }

  /** Resolves `next` at a new head. Also at the response to `eth_subscribe`, so that missed blocks are read. */
  #reported(message: unknown): void {
    this.#reconnectMs = RECONNECT_MS;
    this.#indexWaitMs = FIRST_INDEX_WAIT_MS;
    this.#head = numberIn(message) ?? this.#head;
    this.#isNew = true;
    this.#wake();
  }
}

function numberIn(message: unknown): number | undefined {
  try {
    const number = Number(JSON.parse(String(message)).params?.result?.number);
    return Number.isSafeInteger(number) ? number : undefined;
  } catch {
    return undefined;
  }
}
