/**
 * A client of the rules API, for the commands: speaks to any server that has this interface, by URL and token. It
 * retries what a moment may mend, never twice what could then happen twice.
 */
export { ApiFailure } from './apiFailure.ts';
export { InvalidIdError } from './invalidId.ts';
export { RulesClient, type RulesClientOptions, type StoredRule } from './rulesClient.ts';
