import { RetryLaterError, RpcError } from '../../ethereum/jsonrpc/index.ts';

/** What one side of a link may be asked, by name: each takes one thing, and answers now or later. */
type Calls = Readonly<Record<string, (body: never) => unknown>>;

/** Where messages go to the other process. What cannot be sent is dropped: then that is gone. */
export type Send = (message: unknown) => void;

export type Message =
  | { readonly ask: string; readonly id: number; readonly body: unknown }
  | { readonly tell: string; readonly body: unknown }
  | { readonly answered: number; readonly result: unknown }
  | { readonly failed: number; readonly error: SentError };

interface SentError {
  readonly message: string;
  /** Of an error of JSON-RPC, which a client is told. */
  readonly rpc?: Pick<RpcError, 'code' | 'data'> &
    Partial<Pick<RetryLaterError, 'status' | 'retryAfterSeconds'>>;
}

/** The other process is gone. */
class LinkClosedError extends Error {
  override readonly name = 'LinkClosedError';
}

/** A link between two processes. Messages arrive in the order in which they were sent. */
export class Link<Here extends Calls, There extends Calls> {
  readonly #send: Send;
  readonly #calls: Here;
  readonly #asked = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #lastId = 0;

  constructor(send: Send, calls: Here) {
    this.#send = send;
    this.#calls = calls;
  }

  /** Rejects as the call does; with LinkClosedError where the other process is gone before it has answered. */
  ask<Name extends keyof There & string>(
    name: Name,
    body: Parameters<There[Name]>[0],
  ): Promise<Awaited<ReturnType<There[Name]>>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#send({ ask: name, id, body } satisfies Message);
    });
  }

  /** The same where nobody waits for an answer. */
  tell<Name extends keyof There & string>(name: Name, body: Parameters<There[Name]>[0]): void {
    this.#send({ tell: name, body } satisfies Message);
  }

  /** Takes what the other process has sent. */
  received(message: Message): void {
    if ('tell' in message) this.#calls[message.tell]?.(message.body as never);
    else if ('ask' in message) void this.#answer(message);
    else if ('answered' in message)
      this.#over(message.answered)?.resolve(message.result as never); // of its call
    else this.#over(message.failed)?.reject(receivedError(message.error));
  }

  closed(): void {
    for (const { reject } of this.#asked.values()) reject(new LinkClosedError());
    this.#asked.clear();
  }

  #over(id: number) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }

  async #answer({ ask, id, body }: Extract<Message, { ask: string }>): Promise<void> {
    try {
      const result = await this.#calls[ask]?.(body as never);
      this.#send({ answered: id, result } satisfies Message);
    } catch (error) {
      this.#send({ failed: id, error: sentError(error) } satisfies Message);
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
  return status === undefined
    ? new RpcError(code, message, data)
    : new RetryLaterError(message, { status, retryAfterSeconds, data });
}
