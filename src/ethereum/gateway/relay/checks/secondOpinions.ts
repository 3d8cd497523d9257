import type { WholeResponse } from '../../../nodes/index.ts';

/** Minimum interval between two requests to second nodes for the same object, in milliseconds. */
export const REMEMBERED_MS = 1_000;
/**
 * Maximum number of remembered responses, and maximum of their bytes. Above either, the oldest response is evicted. A
 * client that looks up missing objects occupies this memory for one second only, and its requests are limited by the
 * call budgets of the nodes.
 */
export const MAX_REMEMBERED = 4_096;
export const MAX_REMEMBERED_BYTES = 4 * 1024 * 1024;

/** Response of a second node. Undefined if that node lacks the object too, returned an error, or was not asked. */
export type SecondOpinion = WholeResponse | undefined;

interface Remembered {
  readonly untilMs: number;
  readonly opinion: Promise<SecondOpinion>;
  /** Size of the response in bytes. Zero until the response arrives. */
  bytes: number;
}

/** Responses of second nodes about objects that a first node lacks. Each response is remembered for one second. */
export class SecondOpinions {
  readonly #remembered = new Map<string, Remembered>();
  #bytes = 0;
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#remembered.size;
  }

  /** Returns the remembered response to a request. Otherwise calls `ask`, and remembers the response. */
  get(request: string, ask: () => Promise<SecondOpinion>): Promise<SecondOpinion> {
    const nowMs = this.#nowMs();
    this.#forgetWhile(({ untilMs }) => untilMs <= nowMs);
    const remembered = this.#remembered.get(request);
    if (remembered !== undefined) return remembered.opinion;
    this.#forgetWhile(() => this.size >= MAX_REMEMBERED);
    const opinion = ask();
    const entry: Remembered = { untilMs: nowMs + REMEMBERED_MS, opinion, bytes: 0 };
    this.#remembered.set(request, entry);
    return opinion.then((response) => {
      if (this.#remembered.get(request) === entry) this.#count(entry, response);
      return response;
    });
  }

  #count(entry: Remembered, opinion: SecondOpinion): void {
    entry.bytes = opinion?.response.kind === 'result' ? opinion.response.bytes.length : 0;
    this.#bytes += entry.bytes;
    this.#forgetWhile(() => this.#bytes > MAX_REMEMBERED_BYTES);
  }

  #forgetWhile(isTooMuch: (oldest: Remembered) => boolean): void {
    for (const [request, oldest] of this.#remembered) {
      if (!isTooMuch(oldest)) return;
      this.#remembered.delete(request);
      this.#bytes -= oldest.bytes;
    }
  }
}
