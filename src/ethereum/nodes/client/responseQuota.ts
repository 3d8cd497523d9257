import { NodeError } from './nodeError.ts';

/** Memory quota for the response to a client's request. */
export interface ResponseQuota {
  /** Reserves bytes; returns false if the quota is exhausted. */
  charge(bytes: number): boolean;
  credit(bytes: number): void;
  /** To be called if all connections to a node are in use. Closes one whose client does not read the response. */
  freeConnection(): void;
}

/** The memory quota for a node's response is exhausted. No node is at fault; the client may retry later. */
export class ResponseQuotaError extends NodeError {
  constructor(host: string) {
    super('refused', `response buffer limit reached while reading from ${host}`);
  }
}

/** Memory reserved by one request for the responses of all nodes that it tries. */
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

  /** Releases the reservation. The next owner of the response reserves memory for it. */
  release(): void {
    this.#quota.credit(this.#bytes);
    this.#bytes = 0;
  }
}
