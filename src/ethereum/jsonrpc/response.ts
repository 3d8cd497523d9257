import type { RpcError } from './errors.ts';
import type { RequestId } from './request.ts';
import type { PooledBytes, ResultBytes } from './result.ts';

/**
 * A piece of an answer: text that is made for it, or bytes that are at hand. Text goes further as it is: bytes made of it would
 * be copied once more.
 */
export type Part = string | Uint8Array;

export const RESULT_END = '}';

/** What stands before the result of a successful answer; RESULT_END stands behind it. */
export const resultStart = (id: RequestId): string => `{"jsonrpc":"2.0","id":${idText(id)},"result":`;

/** The integers that most clients send are written without a look for what to escape. */
export const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id));

/** A successful answer, in parts, so that a large result is not copied. */
export const resultResponse = (id: RequestId, result: ResultBytes): Part[] => [
  resultStart(id),
  result,
  RESULT_END,
];

/** The same in one part where what stands around the result fits into the room that it has. */
export function pooledResponse(id: RequestId, { bytes, roomBefore, roomBehind }: PooledBytes): Part[] {
  const start = resultStart(id);
  const startBytes = Buffer.byteLength(start);
  if (startBytes > roomBefore || RESULT_END.length > roomBehind) return resultResponse(id, bytes);
  const whole = Buffer.from(
    bytes.buffer,
    bytes.byteOffset - startBytes,
    startBytes + bytes.length + RESULT_END.length,
  );
  whole.write(start);
  whole.write(RESULT_END, startBytes + bytes.length);
  return [whole];
}

/** The answer for an error; `id` is null where the request's is not known. */
export function errorResponse(id: RequestId, { code, message, data }: RpcError): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

/** The answer to a batch: the answers of its entries in their order. */
export function batchResponse(answers: readonly (readonly Part[])[]): Part[] {
  const parts: Part[] = ['['];
  answers.forEach((answer, i) => {
    if (i > 0) parts.push(',');
    parts.push(...answer);
  });
  parts.push(']');
  return parts;
}
