/** Where what a subscription is for goes. */
export interface Sink {
  /** A result, as JSON. */
  push(result: string): void;
  /** There is more that was not pushed, and will not be. */
  missed(): void;
}
