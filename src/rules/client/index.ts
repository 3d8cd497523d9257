/**
 * A client of the rules API, for the commands: speaks to any server that has this interface, by URL and token. It
 * retries what a moment may mend, never twice what could then happen twice.
 */

export { ApiFailure } from './apiFailure.ts';
export { type Created, RulesClient } from './rulesClient.ts';
export { Transport, type Wait } from './transport.ts';
