/** Client of the rules API for the commands. Retries temporary failures of requests that are safe to repeat. */

export { ApiFailure } from './apiFailure.ts';
export type { Collection, CreatedItem } from './collection.ts';
export { RulesClient } from './rulesClient.ts';
export { fetchFailureReason, Transport, type TransportResponse, type Wait } from './transport.ts';
