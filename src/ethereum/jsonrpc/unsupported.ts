import { RPC_ERRORS } from './errors.ts';
import type { RequestId } from './request.ts';
import { idText } from './response.ts';

/** Maximum length of a method name in an error message. */
const MAX_NAME_LENGTH = 64;
/** Method names that errors repeat unchanged. Other characters are replaced, so clients cannot inject text. */
const NAME = /^[\w.-]{1,64}$/;
const NOT_OF_A_NAME = /[^\w.-]/g;

const { code } = RPC_ERRORS.methodNotFound;
const START = `"error":{"code":${code},"message":"the gateway does not support `;
const END = '; rpc.discover lists the supported methods"}}';

/** Returns the response as text, without an error object, because many such requests must stay cheap. */
export const unsupportedResponse = (id: RequestId, method: string): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},${START}${NAME.test(method) ? method : printable(method)}${END}`;

function printable(method: string): string {
  if (method === '') return 'a method without a name';
  const shown = method.slice(0, MAX_NAME_LENGTH).replace(NOT_OF_A_NAME, '?');
  return method.length > MAX_NAME_LENGTH ? `${shown}…` : shown;
}
