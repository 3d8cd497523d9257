import { InvalidResponseError, type ResponseClass, type UpstreamResponse } from '../../nodes/index.ts';
import { type AnsweredCall, checkAnswer } from '../methods/checkAnswer.ts';
import { isBlockMissingError } from './blockMissingError.ts';

export interface ResponseContext extends AnsweredCall {
  readonly expectsBlock: boolean;
}

/**
 * Error codes for faults of a node: unknown method, internal error, limit of the node (429: Alchemy, with HTTP status
 * 200). Another node may return a result. The gateway sends only valid requests, so -32600 is about the account or the
 * plan at a provider.
 */
const NODE_FAULT_CODES = new Set([-32600, -32601, -32603, -32001, -32002, -32005, -32097, 429]);

/** Phrases by which nodes say that they are overloaded, or lack the state of a block. The error codes differ. */
const NODE_FAULT_MESSAGES =
  /missing trie node|state .*not available|pruned|historical state|too many requests|rate limit|timed? ?out|overloaded|busy|try again|not synced/i;

/** Error codes for which the request itself is the cause, whatever the message: reverted call, invalid parameters. */
const DEFINITIVE_CODES = new Set([3, -32602]);

/** Classifies a node's response. `expectsBlock`: the requested block exists, so the node must not return null. */
export function classifyResponse(context: ResponseContext, response: UpstreamResponse): ResponseClass {
  const { row, expectsBlock } = context;
  if (response.kind === 'error') return !row.once && isNodesFault(response) ? 'elsewhere' : 'good';
  if (response.value === null && row.nullable) return expectsBlock ? 'elsewhere' : 'good';
  try {
    checkAnswer(context, response.value);
    return 'good';
  } catch (error) {
    if (!(error instanceof InvalidResponseError)) throw error;
    return { invalid: error.message };
  }
}

/** Returns true if a node's error may be a fault of the node or its lag, so that another node may return a result. */
export function isNodesFault(error: { readonly code: number; readonly message: string }): boolean {
  if (isBlockMissingError(error)) return true;
  if (DEFINITIVE_CODES.has(error.code)) return false;
  return NODE_FAULT_CODES.has(error.code) || NODE_FAULT_MESSAGES.test(error.message);
}
