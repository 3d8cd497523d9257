import { WebSocket } from 'ws';
import { GATEWAY_PATH } from '../target.ts';
import type { GreedyContext } from './greedy.ts';

const REOPEN_MS = 50;

/** Keeps a number of WebSockets open. One that the server closes is opened again. */
export class WebSockets {
  /** Number of WebSockets that were opened. */
  opened = 0;
  readonly #context: GreedyContext;
  readonly #whenOpen: (socket: WebSocket) => void;
  readonly #sockets = new Set<WebSocket>();
  #isStopped = false;

  constructor(context: GreedyContext, count: number, whenOpen: (socket: WebSocket) => void) {
    this.#context = context;
    this.#whenOpen = whenOpen;
    for (let i = 0; i < count; i++) this.#open();
  }

  get sockets(): ReadonlySet<WebSocket> {
    return this.#sockets;
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.terminate();
  }

  #open(): void {
    if (this.#isStopped) return;
    const { target, address: localAddress } = this.#context;
    const url = target.url.replace(/^http/, 'ws') + GATEWAY_PATH;
    const socket = new WebSocket(url, { localAddress, rejectUnauthorized: false, perMessageDeflate: false });
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('open', () => {
      this.opened++;
      this.#whenOpen(socket);
    });
    socket.once('close', () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#open(), REOPEN_MS);
    });
  }
}
