import type { IncomingMessage } from 'node:http';
import type { Connection, OpenAnswer } from '../unsent/connection.ts';
import type { Account } from '../unsent/unsentBytes.ts';

/** So many bytes of a connection are not counted: most clients take what they are sent at once. */
const FREE_BYTES = 16 * 1024;

/** What a connection was sent without being asked, and its client has not taken. As long as it is open its pace is watched. */
export class PushedBytes implements OpenAnswer {
  readonly req: IncomingMessage;
  readonly #connection: Connection;
  #account: Account | undefined;
  #bytes = 0;
  #owedBytes = 0;

  constructor(connection: Connection, request: IncomingMessage) {
    this.#connection = connection;
    this.req = request;
    connection.opened(this);
  }

  get account(): Account | undefined {
    return this.#account;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#set(this.#bytes + bytes);
    if (this.#owedBytes > 0) this.#connection.owes();
  }

  taken(bytes: number): void {
    this.#set(this.#bytes - bytes);
  }

  over(): void {
    this.#connection.over(this);
    this.#account?.close();
    this.#account = undefined;
    this.#owedBytes = 0;
  }

  #set(bytes: number): void {
    this.#bytes = bytes;
    const owed = Math.max(0, bytes - FREE_BYTES);
    if (owed === this.#owedBytes || this.req.socket.destroyed) return;
    this.#account ??= this.#connection.account(this.req);
    this.#account.owe(owed - this.#owedBytes);
    this.#owedBytes = owed;
    if (owed > 0) return;
    this.#account.close();
    this.#account = undefined;
  }
}
