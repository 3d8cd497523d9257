import type { RpcError } from './errors.ts';
import type { RequestId } from './request.ts';
import type { PooledBytes, ResultBytes } from './result.ts';

/** Text or bytes of a response body. Text stays a string, because converting it here would be another copy. */
export type Part = string | Uint8Array;

export const RESULT_END = '}';

/** Returns the JSON text that precedes the result in a successful response. RESULT_END is the text that follows it. */
export const resultStart = (id: RequestId): string => `{"jsonrpc":"2.0","id":${idText(id)},"result":`;

/** Returns an id as JSON. Integers, the most frequent ids, are converted without JSON.stringify. */
export const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id));

/** Returns a successful response as separate parts, so that a large result is not copied. */
export const resultResponse = (id: RequestId, result: ResultBytes): Part[] => [
  resultStart(id),
  result,
  RESULT_END,
];

/**
 * Successful response for a pooled result. If the text around it fits into the free bytes of the buffer, it is written
 * there, and the response is a single part.
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

/** Returns an error response. `id` is null if the id of the request is unknown. */
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
