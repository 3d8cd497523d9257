import { RetryLaterError, RpcError } from '../../ethereum/jsonrpc/index.ts';
import { inBackground } from '../../platform/background/index.ts';

type Calls = Readonly<Record<string, (body: never) => unknown>>;

export type Message =
  | { readonly ask: string; readonly id: number; readonly body: unknown }
  | { readonly tell: string; readonly body: unknown }
  | { readonly answered: number; readonly result: unknown }
  | { readonly failed: number; readonly error: SentError };

interface SentError {
  readonly message: string;
  /** Set if the error is an RpcError, whose code and data a client of the gateway receives. */
  readonly rpc?: Pick<RpcError, 'code' | 'data'> &
    Partial<Pick<RetryLaterError, 'status' | 'retryAfterSeconds'>>;
}

class LinkClosedError extends Error {
  override readonly name = 'LinkClosedError';
}

/** Typed calls between two processes. Messages arrive in the order in which they were sent. */
export class Link<Here extends Calls, There extends Calls> {
  readonly #send: (message: Message) => void;
  readonly #calls: Here;
  readonly #pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #lastId = 0;

  constructor(send: (message: Message) => void, calls: Here) {
    this.#send = send;
    this.#calls = calls;
  }

  /** Calls the other process. Rejects with the call's error, or with LinkClosedError if that process ends first. */
  ask<Name extends keyof There & string>(
    name: Name,
    body: Parameters<There[Name]>[0],
  ): Promise<Awaited<ReturnType<There[Name]>>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ ask: name, id, body });
    });
  }

  /** Sends a call that has no reply. */
  tell<Name extends keyof There & string>(name: Name, body: Parameters<There[Name]>[0]): void {
    this.#send({ tell: name, body });
  }

  received(message: Message): void {
    if ('tell' in message) this.#calls[message.tell]?.(message.body as never);
    else if ('ask' in message) inBackground('call between processes', () => this.#reply(message));
    else if ('answered' in message) this.#take(message.answered)?.resolve(message.result as never);
    else this.#take(message.failed)?.reject(receivedError(message.error));
  }

  closed(): void {
    for (const { reject } of this.#pending.values()) reject(new LinkClosedError());
    this.#pending.clear();
  }

  #take(id: number) {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  async #reply({ ask, id, body }: Extract<Message, { ask: string }>): Promise<void> {
    try {
      this.#send({ answered: id, result: await this.#calls[ask]?.(body as never) });
    } catch (error) {
      this.#send({ failed: id, error: sentError(error) });
    }
  }
}

function sentError(error: unknown): SentError {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RpcError)) return { message };
  const { code, data } = error;
  if (!(error instanceof RetryLaterError)) return { message, rpc: { code, data } };
  const { status, retryAfterSeconds } = error;
  return { message, rpc: { code, data, status, retryAfterSeconds } };
}

function receivedError({ message, rpc }: SentError): Error {
  if (rpc === undefined) return new Error(message);
  const { code, data, status, retryAfterSeconds = 1 } = rpc;
  if (status === undefined) return new RpcError(code, message, data);
  return new RetryLaterError(message, { status, retryAfterSeconds, data });
}
