export interface Sink {
  /** Delivers one notification; `result` is JSON. */
  push(result: string): void;
  missed(): void;
}
