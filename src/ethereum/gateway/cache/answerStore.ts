/**
 * Stores immutable results on disk, so that they survive a restart. Evicts the oldest entries if its size limit is
 * exceeded. The store may lose results, because they can be requested again, but it must never change a result.
 */
export interface AnswerStore {
  get(key: string): Uint8Array | undefined;
  put(key: string, answer: Uint8Array): void;
  /** Returns the network's anchor: a block that was final when results were stored. Undefined if none is stored. */
  anchor(network: string): Anchor | undefined;
  setAnchor(network: string, anchor: Anchor): void;
  clear(): Promise<void>;
}

export interface Anchor {
  readonly chainId: string;
  readonly number: number;
  readonly hash: string;
}
