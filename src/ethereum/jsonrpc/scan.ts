import type { RequestId } from './request.ts';

/** A smaller body is parsed in the time that looking at it takes. */
const MIN_SCANNED_BYTES = 1024;
/** `method` stands in front, and an `id` in front of it or at the end. */
const HEAD_BYTES = 512;
const TAIL_BYTES = 512;

/** An id whose text is its value: a small integer, null, or visible ASCII without escapes. */
const ID = String.raw`(?:0|-?[1-9]\d{0,14}|null|"[ !#-\[\]-~]{0,256}")`;
const SPACE = String.raw`[ \t\r\n]*`;
const HEAD = new RegExp(
  `^${SPACE}\\{${SPACE}(?:"(?:jsonrpc"${SPACE}:${SPACE}"2\\.0"|id"${SPACE}:${SPACE}(${ID}))${SPACE},${SPACE})*` +
    `"method"${SPACE}:${SPACE}"([!#-\\[\\]-~]{1,256})"`,
);
const TAIL = new RegExp(
  `,${SPACE}"id"${SPACE}:${SPACE}(${ID})(?:${SPACE},${SPACE}"jsonrpc"${SPACE}:${SPACE}"2\\.0")?${SPACE}\\}${SPACE}$`,
);

/**
 * Whether a large body is one request of a method that is not supported, as far as that is seen without parsing it. The scan
 * refuses, and never admits: what it is not sure of is undefined, and left to the parser. A second "method" anywhere may be the
 * one that counts, and an escape may spell it.
 */
export function scanUnsupported(
  body: Buffer,
  supports: (method: string) => boolean,
): { readonly id: RequestId; readonly method: string } | undefined {
  if (body.length < MIN_SCANNED_BYTES) return undefined;
  const head = HEAD.exec(body.toString('latin1', 0, HEAD_BYTES));
  const method = head?.[2];
  if (head === null || method === undefined || supports(method)) return undefined;
  const rest = head[0].length;
  if (body.includes('"method"', rest, 'latin1') || body.includes('\\', rest, 'latin1')) return undefined;
  const idInFront = head[1];
  // A second id would be the one that counts.
  if (idInFront !== undefined && body.includes('"id"', rest, 'latin1')) return undefined;
  const id = idInFront ?? TAIL.exec(body.toString('latin1', body.length - TAIL_BYTES))?.[1];
  return id === undefined ? undefined : { id: JSON.parse(id), method };
}
