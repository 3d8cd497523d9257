import type { HedgedResponse, UpstreamNode, WholeResponse } from '../../nodes/index.ts';
import type { AnswerCache } from '../cache/answerCache.ts';
import { sameAnswer } from './sameAnswer.ts';

/** Second opinions asked for at the same time, and those that wait for it: few, as nobody waits for them. */
const MAX_RUNNING = 4;
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** An answer of a final block that one node gave. */
export interface Unconfirmed {
  readonly key: string;
  readonly node: UpstreamNode;
  readonly bytes: Buffer;
  readonly value: unknown;
  /** Honest nodes may answer it differently: that they do says nothing of any of them. */
  readonly mayDiffer: boolean;
  /** Asks a node that is none of these, and adds it to them. */
  readonly askAnother: (asked: Set<UpstreamNode>) => Promise<HedgedResponse>;
}

/** Hears that a node says something else than two others, or than one where there are no more. */
export type Disagreed = (node: UpstreamNode, key: string) => void;

/** Has what one node said confirmed by another, in the background: what two say is kept for good. */
export class Confirmations {
  readonly #cache: AnswerCache;
  readonly #disagreed: Disagreed;
  readonly #waiting: Unconfirmed[] = [];
  #waitingBytes = 0;
  #running = 0;

  constructor(cache: AnswerCache, disagreed: Disagreed) {
    this.#cache = cache;
    this.#disagreed = disagreed;
  }

  /** Where too many wait already the answer is kept for a while only. */
  want(answer: Unconfirmed): void {
    if (this.#running < MAX_RUNNING) return void this.#run(answer);
    const bytes = this.#waitingBytes + answer.bytes.length;
    if (this.#waiting.length >= MAX_WAITING || bytes > MAX_WAITING_BYTES) return;
    this.#waiting.push(answer);
    this.#waitingBytes = bytes;
  }

  async #run(answer: Unconfirmed): Promise<void> {
    this.#running++;
    try {
      await this.#confirm(answer);
    } catch {
      // No other node answers now: it is kept for a while.
    } finally {
      this.#running--;
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#waitingBytes -= next.bytes.length;
        void this.#run(next);
      }
    }
  }

  async #confirm(answer: Unconfirmed): Promise<void> {
    const { key, node, bytes, value, mayDiffer } = answer;
    const asked = new Set([node]);
    const second = await another(answer, asked);
    if (second === undefined) return;
    if (sameAnswer(second.value, value)) return this.#cache.putFinal(key, bytes);
    if (mayDiffer) return;
    const third = await another(answer, asked).catch(() => undefined);
    if (third !== undefined && sameAnswer(third.value, value)) {
      this.#disagreed(second.node, key);
      return this.#cache.putFinal(key, bytes);
    }
    this.#cache.drop(key);
    this.#disagreed(node, key);
    if (third === undefined || !sameAnswer(third.value, second.value))
      return this.#disagreed(second.node, key);
    this.#cache.distrust(node.name);
    this.#cache.putFinal(key, Buffer.from(third.bytes));
  }
}

interface Opinion {
  readonly node: UpstreamNode;
  readonly value: unknown;
  readonly bytes: Buffer;
}

/** What the next node says that says something; undefined where it has nothing. Rejects where there is none. */
async function another({ askAnother }: Unconfirmed, asked: Set<UpstreamNode>): Promise<Opinion | undefined> {
  const sent = await askAnother(asked);
  if ('stream' in sent) {
    sent.stream.abort();
    return undefined;
  }
  return opinionOf(sent);
}

const opinionOf = ({ node, response }: WholeResponse): Opinion | undefined =>
  response.kind === 'result' && response.value !== null
    ? { node, value: response.value, bytes: response.bytes }
    : undefined;
