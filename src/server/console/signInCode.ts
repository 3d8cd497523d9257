import { randomBytes, timingSafeEqual } from 'node:crypto';

/** The code has 192 bits, so that no client guesses it in ten attempts. */
const CODE_BYTES = 24;
const LIFE_MS = 10 * 60_000;
/** After this number of wrong codes, the right code is rejected too, from any client. */
const MAX_WRONG = 10;

/** A code that a client can exchange for a token one time, within ten minutes. */
export class SignInCode {
  /** The code as text. Its link has it in the URL fragment, which browsers do not send to servers. */
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

  /** Returns the token; undefined if the code is wrong, used or expired, or after too many wrong codes. */
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

/** Compares two texts in constant time, so that the duration reveals nothing about the code. */
function isSame(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  const wanted = Buffer.from(expected);
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
}
