/**
 * Keeps answers that cannot change any more, between runs. An engine keeps at most its bound of bytes and drops the
 * oldest first; an answer that it does not have is asked for again, so it may lose any of them, but never change one.
 */
export interface AnswerStore {
  get(key: string): Uint8Array | undefined;
  /** Written soon, not at once. */
  put(key: string, answer: Uint8Array): void;
  /** A block that was final when the answers of a network were cached; undefined where none are. */
  anchor(network: string): Anchor | undefined;
  setAnchor(network: string, anchor: Anchor): void;
  /** Drops everything: the chain is not the one that the answers are of. */
  clear(): Promise<void>;
}

export interface Anchor {
  readonly chainId: string;
  readonly number: number;
  readonly hash: string;
}
