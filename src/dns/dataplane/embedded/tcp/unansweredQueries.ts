/**
 * Queries of one TCP connection that wait for an answer of the DNS server, so that the guard can answer them itself.
 * Stores only header and question of each query, in memory that no other query shares.
 */
import { type Question, readUint16 } from '../../../protocol/index.ts';
import { framedResponse, LocalResponse } from '../localResponses.ts';

/** Maximum number of stored queries. A chunk may contain more; the connection is closed if these get no answer. */
const MAX_STORED = 100;

interface StoredQuery {
  readonly packet: Uint8Array;
  /** Bits of `Edns`. */
  readonly edns: number;
}

export class UnansweredQueries {
  readonly #stored: StoredQuery[] = [];
  #count = 0;

  get size(): number {
    return this.#count;
  }

  add(packet: Uint8Array, { end, edns }: Question): void {
    this.#count++;
    if (this.#stored.length < MAX_STORED)
      this.#stored.push({ packet: new Uint8Array(packet.subarray(0, end)), edns });
  }

  /** Removes the query that `answer` belongs to, by its transaction ID. */
  answered(answer: Uint8Array): void {
    this.#count--;
    const index = this.#stored.findIndex(({ packet }) => readUint16(packet, 0) === readUint16(answer, 0));
    if (index >= 0) this.#stored.splice(index, 1);
    if (this.#count <= 0) this.#stored.length = 0;
  }

  /**
   * Removes all queries, and returns their SERVFAIL answers. Returns undefined if a query was not stored, or
   * `maySend` returns false for the number of answers.
   */
  fail(maySend: (answers: number) => boolean): readonly Buffer[] | undefined {
    const stored = this.#stored.splice(0);
    const isComplete = stored.length === this.#count;
    this.#count = 0;
    if (!isComplete || !maySend(stored.length)) return undefined;
    return stored.map(({ packet, edns }) =>
      framedResponse(packet, { end: packet.length, edns }, LocalResponse.noServer),
    );
  }
}
