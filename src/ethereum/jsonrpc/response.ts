import type { RpcError } from './errors.ts';
import type { RequestId } from './request.ts';
import type { PooledBytes, ResultBytes } from './result.ts';

/** Part of a response body. Text remains a string, because a conversion to bytes would be another copy. */
export type Part = string | Uint8Array;

export const RESULT_END = '}';

/** Returns the JSON text before the result of a successful response. RESULT_END is the text after the result. */
export const resultStart = (id: RequestId): string => `{"jsonrpc":"2.0","id":${idText(id)},"result":`;

/** Returns an id as JSON. Most ids are integers, so these are converted without JSON.stringify, which is slower. */
export const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id));

/** Returns a successful response as separate parts, so that a large result is not copied. */
export const resultResponse = (id: RequestId, result: ResultBytes): Part[] => [
  resultStart(id),
  result,
  RESULT_END,
];

/**
 * Returns a successful response for a pooled result. If the text before and after the result fits into the free bytes
 * of the buffer, it is written there, and the response is a single part.
 */
export function pooledResponse(
  id: RequestId,
  { bytes, freeBytesBefore, freeBytesAfter }: PooledBytes,
): Part[] {
  const start = resultStart(id);
  const startBytes = Buffer.byteLength(start);
  if (startBytes > freeBytesBefore || RESULT_END.length > freeBytesAfter) return resultResponse(id, bytes);
  const whole = Buffer.from(
    bytes.buffer,
    bytes.byteOffset - startBytes,
    startBytes + bytes.length + RESULT_END.length,
  );
  whole.write(start);
  whole.write(RESULT_END, startBytes + bytes.length);
  return [whole];
}

/** Returns an error response as JSON. `id` is null if the id of the request is unknown. */
export function errorResponse(id: RequestId, { code, message, data }: RpcError): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

export function batchResponse(answers: readonly (readonly Part[])[]): Part[] {
  const parts: Part[] = ['['];
  answers.forEach((answer, i) => {
    if (i > 0) parts.push(',');
    parts.push(...answer);
  });
  parts.push(']');
  return parts;
}
