import { depthOf } from '../../../platform/nesting/index.ts';
import { NodeError } from './nodeError.ts';
import { parseNodeJson } from './parseNodeJson.ts';
import { ResultSpan } from './resultSpan.ts';

/** JSON-RPC id of every relayed request. Each response arrives on its request's connection, so the id is constant. */
export const NODE_REQUEST_ID = 1;

/**
 * Parsed JSON-RPC response of a node. `bytes` is the result exactly as received, `value` the parsed result, or
 * undefined if `readLargeResult` read it.
 */
export type UpstreamResponse =
  | { readonly kind: 'result'; readonly bytes: Buffer; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown };

/** Maximum length of a node's error message. The rest is cut off before the message is passed on. */
const MAX_MESSAGE_LENGTH = 500;

/** Maximum depth of the data of a node's error. JSON.stringify fails for a depth of some thousands. */
const MAX_DATA_DEPTH = 64;

/** Maximum size of a response that is always parsed at once. */
const LARGE_RESULT_BYTES = 1024 * 1024;

/** Text before and after the result, in the two forms that geth, reth, erigon, anvil, besu and nethermind send. */
const FORMS = [
  [`{"jsonrpc":"2.0","id":${NODE_REQUEST_ID},"result":`, '}'],
  ['{"jsonrpc":"2.0","result":', `,"id":${NODE_REQUEST_ID}}`],
].map(([start = '', end = '']) => ({ start: Buffer.from(start), end: Buffer.from(end) }));

/** Parses a node's response. Throws NodeError with reason `nonsense` if it is not a JSON-RPC response. */
export function readResponse(bytes: Buffer, host: string): UpstreamResponse {
  return readKnownForm(bytes) ?? readAnyForm(bytes, host);
}

/** Returns a large result without parsing it, which would block the event loop. Undefined if there is none. */
export function readLargeResult(bytes: Buffer): UpstreamResponse | undefined {
  if (bytes.length <= LARGE_RESULT_BYTES) return undefined;
  const [result = resultOf(bytes)] = knownResults(bytes);
  return result && { kind: 'result', bytes: result, value: undefined };
}

function readKnownForm(bytes: Buffer): UpstreamResponse | undefined {
  for (const result of knownResults(bytes)) {
    const value = parse(result);
    // If these bytes are not valid JSON, other members follow the result, and `readAnyForm` parses the response.
    if (value !== undefined) return { kind: 'result', bytes: result, value };
  }
  return undefined;
}

/** Returns the bytes between start and end of each known form that fits the response. */
function* knownResults(bytes: Buffer): Iterable<Buffer> {
  const length = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length;
  for (const { start, end } of FORMS) {
    const to = length - end.length;
    if (to <= start.length || bytes.compare(start, 0, start.length, 0, start.length) !== 0) continue;
    if (bytes.compare(end, 0, end.length, to, length) !== 0) continue;
    yield bytes.subarray(start.length, to);
  }
}

function readAnyForm(bytes: Buffer, host: string): UpstreamResponse {
  const answer = parse(bytes);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new NodeError('nonsense', `${host} answered with something that is not JSON-RPC`);
  const { id, error, result } = answer as Readonly<Record<string, unknown>>; // a JSON object
  if (typeof error === 'object' && error !== null) return readError(error);
  if (id !== NODE_REQUEST_ID)
    throw new NodeError('nonsense', `${host} answered with the id of another request`);
  const span = result === undefined ? undefined : resultOf(bytes);
  if (span === undefined) throw new NodeError('nonsense', `${host} answered with neither result nor error`);
  // The key `result` may occur twice, so the value is parsed from exactly the bytes that are forwarded.
  return { kind: 'result', bytes: span, value: parse(span) };
}

function resultOf(bytes: Buffer): Buffer | undefined {
  const start = ResultSpan.find(bytes);
  if (start === undefined) return undefined;
  const end = new ResultSpan().feed(bytes.subarray(start));
  return end === undefined ? undefined : bytes.subarray(start, start + end);
}

function readError(error: object): UpstreamResponse {
  const { code, message, data } = error as Readonly<Record<string, unknown>>; // a JSON object
  return {
    kind: 'error',
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : -32000,
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH) : 'the node sent no message',
    ...(data !== undefined && depthOf(data, MAX_DATA_DEPTH) <= MAX_DATA_DEPTH && { data }),
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return parseNodeJson(bytes);
  } catch {
    return undefined;
  }
}
