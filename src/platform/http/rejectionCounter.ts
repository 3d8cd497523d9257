/** After this number of consecutive rejected requests, a connection closes with its next response. */
const MAX_REJECTED = 32;
const [BAD_REQUEST, UNAUTHORIZED, FORBIDDEN] = [400, 401, 403];

/**
 * Counts consecutive unauthorised or malformed requests of one connection. The statuses 429 and 503 reflect the state
 * of the server and count as neither rejection nor success.
 */
export class RejectionCounter {
  #inARow = 0;

  get limitReached(): boolean {
    return this.#inARow >= MAX_REJECTED;
  }

  count(status: number): void {
    if (status < BAD_REQUEST) this.#inARow = 0;
    else if (status === BAD_REQUEST || status === UNAUTHORIZED || status === FORBIDDEN) this.#inARow++;
  }
}
