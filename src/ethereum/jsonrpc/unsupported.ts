import { RPC_ERRORS } from './errors.ts';
import type { RequestId } from './request.ts';
import { idText } from './response.ts';

/** Maximum length of a method name that an error message repeats. The rest is cut off. */
const MAX_NAME_LENGTH = 64;
/** Method names that an error message repeats unchanged. Others are changed, so that clients cannot inject text. */
const NAME = /^[\w.-]{1,64}$/;
const NOT_OF_A_NAME = /[^\w.-]/g;

const { code } = RPC_ERRORS.methodNotFound;
const START = `"error":{"code":${code},"message":"the gateway does not support `;
const END = '; rpc.discover lists the supported methods"}}';
/** WebSockets support these methods. */
const SUBSCRIPTIONS = ['eth_subscribe', 'eth_unsubscribe'];
const SUBSCRIPTIONS_END = ' over HTTP; subscriptions need a WebSocket"}}';

/** Returns the response to a call of an unsupported method. Builds it as text, so that many such calls stay cheap. */
export const unsupportedResponse = (id: RequestId, method: string): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},${START}${NAME.test(method) ? method : printable(method)}${endOf(method)}`;

const endOf = (method: string): string => (SUBSCRIPTIONS.includes(method) ? SUBSCRIPTIONS_END : END);

function printable(method: string): string {
  if (method === '') return 'a method without a name';
  const shown = method.slice(0, MAX_NAME_LENGTH).replace(NOT_OF_A_NAME, '?');
  return method.length > MAX_NAME_LENGTH ? `${shown}…` : shown;
}
