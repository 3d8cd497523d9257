import type { BudgetClient } from '../../../../platform/budgets/index.ts';

/** Returns the name of a client that takes turns with others: its API key, or its address if it has no key. */
export const clientName = ({ address, keyId }: BudgetClient): string =>
  keyId === undefined ? address : `key ${keyId}`;

export interface Sink {
  /** Name of the client, from `clientName`. Clients receive notifications in turns. */
  readonly client: string;
  /** Delivers one notification; `result` is JSON. */
  push(result: string): void;
  missed(): void;
}
