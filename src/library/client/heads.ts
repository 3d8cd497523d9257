import { pause } from './pause.ts';

/** When there may be something new. */
export interface Heads {
  /** Resolves with the next head, at the latest after a while; soon where the index has not come to the newest head yet. */
  next(indexed: number, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

/** What a WebSocket of a browser, of Node 22 or of the package `ws` has. */
export interface WebSocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  send(message: string): void;
  close(): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** Looks every so often. */
export const polledHeads = (intervalMs: number): Heads => ({
  next: (_indexed, signal) => pause(intervalMs, signal),
  close: () => undefined,
});

/** A connection that is dead without a word is found out by then. */
const LOOK_MS = 15_000;
/** The index has a block some milliseconds after its head is told, or seconds: it is looked again so soon, then after twice as long. */
const INDEXED_SOON_MS = 100;
const RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 30_000;

const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] });

/** Is told of heads over a WebSocket, which is opened again when it was closed. */
export class PushedHeads implements Heads {
  readonly #url: string;
  readonly #WebSocket: WebSocketConstructor;
  #socket: WebSocketLike | undefined;
  #head = 0;
  #isNew = false;
  #soonMs = INDEXED_SOON_MS;
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
      const isBehind = indexed < this.#head && this.#soonMs < LOOK_MS;
      const told = new AbortController();
      this.#wake = () => told.abort();
      const either = signal === undefined ? told.signal : AbortSignal.any([signal, told.signal]);
      await pause(isBehind ? this.#soonMs : LOOK_MS, either).catch(() => signal?.throwIfAborted());
      if (isBehind) this.#soonMs *= 2;
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
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.#told(data);
    // The WebSocket of Node 22 tells only of an error where a connection cannot be opened, others of its end besides.
    const lost = (): void => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#reconnect = setTimeout(() => this.#open(), this.#reconnectMs);
      this.#reconnectMs = Math.min(2 * this.#reconnectMs, MAX_RECONNECT_MS);
    };
    socket.onerror = lost;
    socket.onclose = lost;
  }

  /** A new head, or the answer to the subscription: what came while there was none is looked for then. */
  #told(message: unknown): void {
    this.#reconnectMs = RECONNECT_MS;
    this.#soonMs = INDEXED_SOON_MS;
    this.#head = numberIn(message) ?? this.#head;
    this.#isNew = true;
    this.#wake();
  }
}

/** The number of the block that a message tells of. */
function numberIn(message: unknown): number | undefined {
  try {
    const number = Number(JSON.parse(String(message)).params?.result?.number);
    return Number.isSafeInteger(number) ? number : undefined;
  } catch {
    return undefined;
  }
}
