import { IncomingMessage } from 'node:http';
import { type ClientAddress, clientKey } from '../../addresses/index.ts';
import type { BudgetClient } from '../../budgets/index.ts';

export interface BodyObserver {
  received(bytes: number): void;
  ended(): void;
}

/** A request that counts the bytes of its body as they arrive, even if they are not read. */
export class CountedRequest extends IncomingMessage {
  /** The client whose budgets are charged. Undefined until `clientOf` determines its address. */
  client: BudgetClient | undefined;
  #bodyBytes = 0;
  #observer: BodyObserver | undefined;

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Whether the whole body has arrived. With a known length, this is clear one step before node sets `complete`. */
  get isComplete(): boolean {
    return this.complete || this.#bodyBytes === Number(this.headers['content-length']);
  }

  observeBody(observer: BodyObserver): void {
    this.#observer = observer;
  }

  /** Node's parser calls this method with each chunk of the body, and with null at the end. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) this.#observer?.ended();
    else {
      this.#bodyBytes += chunk.length;
      this.#observer?.received(chunk.length);
    }
    return super.push(chunk, encoding);
  }
}

/** Returns the client of a request. Its address is determined once. */
export function clientOf(request: IncomingMessage, clientAddress: ClientAddress): BudgetClient {
  const known = request instanceof CountedRequest ? request.client : undefined;
  if (known !== undefined) return known;
  const client = { address: clientKey(clientAddress(request)) };
  if (request instanceof CountedRequest) request.client = client;
  return client;
}

/** Sets the API key of a request's client, from which budgets are then also charged. */
export function identifyClient(request: IncomingMessage, client: BudgetClient): void {
  if (request instanceof CountedRequest) request.client = client;
}
