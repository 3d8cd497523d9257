import { IncomingMessage } from 'node:http';

export interface BodyObserver {
  received(bytes: number): void;
  ended(): void;
}

/** A request that counts the bytes of its body as they arrive, even if they are not read. */
export class CountedRequest extends IncomingMessage {
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
