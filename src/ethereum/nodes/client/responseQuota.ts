import { NodeError } from './nodeError.ts';

/** Memory quota for nodes' responses to the requests of clients. */
export interface ResponseQuota {
  /** Reserves bytes; returns false if the quota is exhausted. */
  charge(bytes: number): boolean;
  credit(bytes: number): void;
  /** To be called if all connections to a node are in use. Frees one whose client does not read its response. */
  freeConnection(): void;
}

/** The memory quota is exhausted, so a node's response cannot be read. No node is at fault; the client may retry. */
export class ResponseQuotaError extends NodeError {
  constructor(host: string) {
    super('refused', `response buffer limit reached while reading from ${host}`);
  }
}

/** Memory that one request has reserved in the quota, for the responses of all nodes that it tries. */
export class ReceiveReservation {
  readonly #quota: ResponseQuota;
  #bytes = 0;

  constructor(room: ResponseQuota) {
    this.#quota = room;
  }

  charge(bytes: number): boolean {
    if (!this.#quota.charge(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  freeConnection(): void {
    this.#quota.freeConnection();
  }

  /** Releases all reserved memory. The code that keeps the response after that reserves memory itself. */
  release(): void {
    this.#quota.credit(this.#bytes);
    this.#bytes = 0;
  }
}
