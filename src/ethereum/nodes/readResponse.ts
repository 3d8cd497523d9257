import { NodeError } from './nodeError.ts';
import { ResultSpan } from './resultSpan.ts';

/** The id of every request to a node: answers are told apart by their connection. */
export const NODE_REQUEST_ID = 1;

/** A node's answer, taken apart without changing a byte of its result. */
export type UpstreamResponse =
  | { readonly kind: 'result'; readonly bytes: Buffer; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown };

/** Of a node's own words, what an error repeats. */
const MAX_MESSAGE_LENGTH = 500;

/** How geth, reth, erigon, anvil, besu and nethermind begin and end an answer. */
const FORMS = [
  [`{"jsonrpc":"2.0","id":${NODE_REQUEST_ID},"result":`, '}'],
  ['{"jsonrpc":"2.0","result":', `,"id":${NODE_REQUEST_ID}}`],
].map(([start = '', end = '']) => ({ start: Buffer.from(start), end: Buffer.from(end) }));

/** Takes an answer apart. Throws NodeError of reason `nonsense` where it is none. */
export function readResponse(bytes: Buffer, host: string): UpstreamResponse {
  return readKnownForm(bytes) ?? readAnyForm(bytes, host);
}

function readKnownForm(bytes: Buffer): UpstreamResponse | undefined {
  const length = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length;
  for (const { start, end } of FORMS) {
    const to = length - end.length;
    if (to <= start.length || bytes.compare(start, 0, start.length, 0, start.length) !== 0) continue;
    if (bytes.compare(end, 0, end.length, to, length) !== 0) continue;
    const result = bytes.subarray(start.length, to);
    const value = parse(result);
    // A result that is no JSON by itself has something behind it: the other way reads it.
    if (value !== undefined) return { kind: 'result', bytes: result, value };
  }
  return undefined;
}

function readAnyForm(bytes: Buffer, host: string): UpstreamResponse {
  const answer = parse(bytes);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new NodeError('nonsense', `${host} answered with something that is no JSON-RPC`);
  const { id, error, result } = answer as Readonly<Record<string, unknown>>; // a JSON object
  if (typeof error === 'object' && error !== null) return readError(error);
  if (id !== NODE_REQUEST_ID) throw new NodeError('nonsense', `${host} answered another request`);
  const span = result === undefined ? undefined : resultOf(bytes);
  if (span === undefined) throw new NodeError('nonsense', `${host} answered with neither result nor error`);
  // Of a member that stands there twice, what is checked must be what is passed on.
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
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH) : 'the node gave no message',
    ...(data !== undefined && { data }),
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
