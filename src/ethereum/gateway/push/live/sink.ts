export interface Sink {
  /** Name of the client, from `clientName`. Clients are served one after the other. */
  readonly client: string;
  /** Delivers one notification; `result` is JSON. */
  push(result: string): void;
  missed(): void;
}
