import { BlockUnavailableError, NoSpaceError } from '../../ethereum/ingest/index.ts';
import { RateLimitedError, RetryLaterError, RpcError } from '../../ethereum/jsonrpc/index.ts';
import { IndexUnavailableError } from '../../ethereum/traces/index.ts';
import { inBackground } from '../../platform/background/index.ts';

type Calls = Readonly<Record<string, (body: never) => unknown>>;

export type Message =
  | { readonly ask: string; readonly id: number; readonly body: unknown }
  | { readonly tell: string; readonly body: unknown }
  | { readonly answered: number; readonly result: unknown }
  | { readonly failed: number; readonly error: SentError };

/** Error classes that callers distinguish, subclasses first. A received error has its class and its own members. */
const KINDS = [
  RateLimitedError,
  RetryLaterError,
  RpcError,
  BlockUnavailableError,
  NoSpaceError,
  IndexUnavailableError,
];

interface SentError {
  /** Index in KINDS, or -1 for other errors. Only their name and message are sent. */
  readonly kind: number;
  readonly members: Pick<Error, 'name' | 'message'>;
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

  /** Calls the other process. Rejects with the call's error, or with that of `closed` if that process ends first. */
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

  /** Must be called when the other process has ended. Rejects pending calls. */
  closed(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
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
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const kind = KINDS.findIndex((one) => error instanceof one);
  return { kind, members: { ...(kind >= 0 && (error as Error)), name, message } };
}

function receivedError({ kind, members }: SentError): Error {
  const error = Object.assign(new Error(members.message), members);
  return Object.setPrototypeOf(error, (KINDS[kind] ?? Error).prototype) as Error;
}
