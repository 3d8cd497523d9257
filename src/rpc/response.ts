import type { RpcError } from './errors.ts';
import type { RequestId } from './request.ts';
import type { LentBytes, ResultBytes } from './result.ts';

const RESULT = ',"result":';
export const RESULT_END = Buffer.from('}');

/** What stands before the result of a successful answer; RESULT_END stands behind it. */
export const resultStart = (id: RequestId): Buffer => Buffer.from(startText(id));

const startText = (id: RequestId): string =>
  `{"jsonrpc":"2.0","id":${typeof id === 'number' ? id : JSON.stringify(id)}${RESULT}`;

/** A successful answer, in parts, so that a large result is not copied. */
export const resultResponse = (id: RequestId, result: ResultBytes): Uint8Array[] => [
  resultStart(id),
  result,
  RESULT_END,
];

/** The same in one part where what stands around the result fits into the room that it has. */
export function lentResponse(id: RequestId, { bytes, roomBefore, roomBehind }: LentBytes): Uint8Array[] {
  const start = startText(id);
  const startBytes = Buffer.byteLength(start);
  if (startBytes > roomBefore || RESULT_END.length > roomBehind) return resultResponse(id, bytes);
  const whole = Buffer.from(
    bytes.buffer,
    bytes.byteOffset - startBytes,
    startBytes + bytes.length + RESULT_END.length,
  );
  whole.write(start);
  whole.set(RESULT_END, startBytes + bytes.length);
  return [whole];
}

/** The answer for an error; `id` is null where the request's is not known. */
export function errorResponse(id: RequestId, { code, message, data }: RpcError): Uint8Array {
  const error = data === undefined ? { code, message } : { code, message, data };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }));
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** The answer to a batch: the answers of its entries in their order. */
export function batchResponse(answers: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const parts: Uint8Array[] = [OPEN];
  answers.forEach((answer, i) => {
    if (i > 0) parts.push(COMMA);
    parts.push(...answer);
  });
  parts.push(CLOSE);
  return parts;
}
