import { inBackground } from '../../../../platform/background/index.ts';
import type { HedgedResponse, UpstreamNode, WholeResponse } from '../../../nodes/index.ts';
import type { AnswerCache } from '../../cache/answerCache.ts';
import { isSameResult } from './isSameResult.ts';

/** Maximum numbers of running and of queued confirmations. No client waits for a confirmation, so they are low. */
const MAX_RUNNING = 4;
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export interface UnconfirmedResult {
  readonly key: string;
  readonly node: UpstreamNode;
  readonly bytes: Buffer;
  readonly value: unknown;
  /** True if correct nodes may return different results for the request. A difference is then no fault. */
  readonly mayDiffer: boolean;
  /** Sends the request to a node that is not in `asked`, and adds the node to `asked`. */
  readonly askAnother: (asked: Set<UpstreamNode>) => Promise<HedgedResponse>;
}

/** Called with a node whose result was not confirmed by any of the one or two other nodes that were asked. */
export type Disagreed = (node: UpstreamNode, key: string) => void;

/** Confirms the result of one node by asking a second node in the background. A confirmed result never expires. */
export class Confirmations {
  readonly #cache: AnswerCache;
  readonly #disagreed: Disagreed;
  readonly #waiting: UnconfirmedResult[] = [];
  #waitingBytes = 0;
  #running = 0;

  constructor(cache: AnswerCache, disagreed: Disagreed) {
    this.#cache = cache;
    this.#disagreed = disagreed;
  }

  /** Queues a result for confirmation. If the queue is full, the result stays unconfirmed and expires later. */
  enqueue(answer: UnconfirmedResult): void {
    if (this.#running < MAX_RUNNING) return this.#start(answer);
    const bytes = this.#waitingBytes + answer.bytes.length;
    if (this.#waiting.length >= MAX_WAITING || bytes > MAX_WAITING_BYTES) return;
    this.#waiting.push(answer);
    this.#waitingBytes = bytes;
  }

  #start(answer: UnconfirmedResult): void {
    inBackground('confirmation of a result', () => this.#run(answer));
  }

  async #run(answer: UnconfirmedResult): Promise<void> {
    this.#running++;
    try {
      await this.#confirm(answer);
    } catch {
      // No other node is available. The result stays unconfirmed and expires.
    } finally {
      this.#running--;
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#waitingBytes -= next.bytes.length;
        this.#start(next);
      }
    }
  }

  async #confirm(answer: UnconfirmedResult): Promise<void> {
    const { key, node, bytes, value, mayDiffer } = answer;
    const asked = new Set([node]);
    const second = await nextOpinion(answer, asked);
    if (second === undefined) return;
    if (isSameResult(second.value, value)) return this.#cache.putFinal(key, bytes);
    if (mayDiffer) return;
    const third = await nextOpinion(answer, asked).catch(() => undefined);
    if (third !== undefined && isSameResult(third.value, value)) {
      this.#disagreed(second.node, key);
      return this.#cache.putFinal(key, bytes);
    }
    this.#cache.drop(key);
    this.#disagreed(node, key);
    if (third === undefined || !isSameResult(third.value, second.value))
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

/** Returns another node's result. Undefined if it is null, an error or a stream. Rejects if no node is available. */
async function nextOpinion(
  { askAnother }: UnconfirmedResult,
  asked: Set<UpstreamNode>,
): Promise<Opinion | undefined> {
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
