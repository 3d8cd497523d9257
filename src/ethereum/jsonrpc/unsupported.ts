import { RPC_ERRORS } from './errors.ts';
import type { RequestId } from './request.ts';
import { idText } from './response.ts';

/** Of a method's name, what an answer repeats. */
const MAX_NAME_LENGTH = 64;
/** What names of methods are made of; anything else is not repeated. */
const NAME = /^[\w.-]{1,64}$/;
const NOT_OF_A_NAME = /[^\w.-]/g;

const { code } = RPC_ERRORS.methodNotFound;
const START = `"error":{"code":${code},"message":"the gateway does not support `;
const END = '; rpc.discover lists the methods that it does"}}';

/**
 * The answer for a method that is not supported. Written without an error object: what a flood of such requests costs is what it
 * takes from the others.
 */
export const unsupportedResponse = (id: RequestId, method: string): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},${START}${NAME.test(method) ? method : printable(method)}${END}`;

function printable(method: string): string {
  if (method === '') return 'a method without a name';
  const shown = method.slice(0, MAX_NAME_LENGTH).replace(NOT_OF_A_NAME, '?');
  return method.length > MAX_NAME_LENGTH ? `${shown}…` : shown;
}
