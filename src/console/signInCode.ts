import { randomBytes, timingSafeEqual } from 'node:crypto';

/** 192 bits: nobody guesses it in ten minutes, nor in ten tries. */
const CODE_BYTES = 24;
const LIFE_MS = 10 * 60_000;
/** Whoever sends this many wrong ones makes the code worthless for everybody. */
const MAX_WRONG = 10;

/** A code that is exchanged for a token once, within ten minutes. */
export class SignInCode {
  /** For a URL's fragment, which no browser sends to a server. */
  readonly text = randomBytes(CODE_BYTES).toString('base64url');
  readonly #token: string;
  readonly #endsMs: number;
  readonly #nowMs: () => number;
  #wrong = 0;
  #isUsed = false;

  constructor(token: string, nowMs: () => number = () => performance.now()) {
    this.#token = token;
    this.#nowMs = nowMs;
    this.#endsMs = nowMs() + LIFE_MS;
  }

  /** The token; undefined where the code is wrong, was used, is too old, or too many wrong ones came. */
  exchange(code: string): string | undefined {
    const isRight = isSame(code, this.text);
    if (this.#isUsed || this.#wrong >= MAX_WRONG || this.#nowMs() >= this.#endsMs) return undefined;
    if (!isRight) {
      this.#wrong++;
      return undefined;
    }
    this.#isUsed = true;
    return this.#token;
  }
}

/** In the same time wherever they differ. */
function isSame(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  const wanted = Buffer.from(expected);
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
}
