import { InvalidResponseError, type ResponseClass, type UpstreamResponse } from '../../nodes/index.ts';
import { type AnsweredCall, checkAnswer } from '../methods/checkAnswer.ts';
import { saysBlockIsGone } from './blockGone.ts';

/** What a response is of. */
export interface ResponseContext extends AnsweredCall {
  readonly expectsBlock: boolean;
}

/** Codes that tell of the node rather than of the request: method not found, internal error, its own limits. */
const NODES_OWN_CODES = new Set([-32601, -32603, -32001, -32002, -32005, -32097]);

/** What nodes say when they do not have a block's state, or are overloaded, under whatever code. */
const NODES_OWN_WORDS =
  /missing trie node|state .*not available|pruned|historical state|too many requests|rate limit|timed? ?out|overloaded|busy|try again|not synced/i;

/** Codes of answers about the request itself, whatever their words: a revert, bad parameters. */
const DEFINITIVE_CODES = new Set([3, -32602, -32600]);

/**
 * What a node's response to a request is worth. `expectsBlock`: the request is about a block that the chain has, so that
 * null is no answer.
 */
export function classifyResponse(context: ResponseContext, response: UpstreamResponse): ResponseClass {
  const { row, expectsBlock } = context;
  if (response.kind === 'error') {
    if (row.once) return 'good';
    if (saysBlockIsGone(response)) return 'elsewhere';
    if (DEFINITIVE_CODES.has(response.code)) return 'good';
    return NODES_OWN_CODES.has(response.code) || NODES_OWN_WORDS.test(response.message)
      ? 'elsewhere'
      : 'good';
  }
  if (response.value === null && row.nullable) return expectsBlock ? 'elsewhere' : 'good';
  try {
    checkAnswer(context, response.value);
    return 'good';
  } catch (error) {
    if (!(error instanceof InvalidResponseError)) throw error;
    return { invalid: error.message };
  }
}
