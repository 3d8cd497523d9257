import { createHash } from 'node:crypto';
import { RpcError } from '../../../jsonrpc/index.ts';
import type { BlockRange, Hash, HistoryPosition } from '../../../traces/index.ts';

export interface HistoryCursor {
  /** Block range of the first page, with tags replaced by block numbers. */
  readonly range: BlockRange;
  readonly behind: HistoryPosition;
}

/**
 * Layout of a cursor, before it is encoded in base64url:
 * - u8 version
 * - 8 bytes of checksum over the query and the following fields
 * - three block numbers of 6 bytes: first and last block of the range, block of the position
 * - u32 trace index
 * - block hash of 32 bytes, if known
 *
 * The cursor contains everything that is needed to continue, so any process can do so. It is neither secret nor signed,
 * because a forged cursor can request no more than a query with a range.
 */
const VERSION = 1;
const CHECK_BYTES = 8;
const CHECK_AT = 1;
const BODY_AT = CHECK_AT + CHECK_BYTES;
const NUMBER_BYTES = 6;
const HASH_AT = BODY_AT + 3 * NUMBER_BYTES + 4;
const HASH_BYTES = 32;

const MAX_LENGTH = Math.ceil(((HASH_AT + HASH_BYTES) * 4) / 3);

/** Returns a cursor as text. `question` contains the query parameters for which the cursor is valid. */
export function encodeCursor({ range, behind }: HistoryCursor, question: string): string {
  const { blockHash } = behind;
  const bytes = Buffer.alloc(blockHash === undefined ? HASH_AT : HASH_AT + HASH_BYTES);
  bytes[0] = VERSION;
  let at = BODY_AT;
  for (const number of [range.fromBlock, range.toBlock, behind.blockNumber])
    at = bytes.writeUIntBE(number, at, NUMBER_BYTES);
  bytes.writeUInt32BE(behind.traceIndex, at);
  if (blockHash !== undefined) bytes.write(blockHash.slice(2), HASH_AT, 'hex');
  checkOf(bytes, question).copy(bytes, CHECK_AT);
  return bytes.toString('base64url');
}

const CURSOR = /^[A-Za-z0-9_-]+$/;

/** Decodes a cursor. Throws RpcError if it is malformed or belongs to a query with other parameters. */
export function decodeCursor(text: string, question: string): HistoryCursor {
  const bytes = Buffer.from(text.length <= MAX_LENGTH && CURSOR.test(text) ? text : '', 'base64url');
  const isWhole = bytes.length === HASH_AT || bytes.length === HASH_AT + HASH_BYTES;
  if (!isWhole || bytes[0] !== VERSION || bytes.toString('base64url') !== text) throw badCursor();
  if (!checkOf(bytes, question).equals(bytes.subarray(CHECK_AT, BODY_AT))) throw badCursor();
  const [fromBlock = 0, toBlock = 0, blockNumber = 0] = [0, 1, 2].map((i) =>
    bytes.readUIntBE(BODY_AT + i * NUMBER_BYTES, NUMBER_BYTES),
  );
  const traceIndex = bytes.readUInt32BE(BODY_AT + 3 * NUMBER_BYTES);
  // 32 bytes in lower-case hex are a hash.
  const blockHash = `0x${bytes.toString('hex', HASH_AT)}` as Hash;
  return {
    range: { fromBlock, toBlock },
    behind: { blockNumber, traceIndex, ...(bytes.length > HASH_AT && { blockHash }) },
  };
}

const badCursor = (): RpcError =>
  new RpcError(
    'invalidParams',
    'cursor must come from the previous page, with the same parameters (limit may change); omit it to start over',
  );

function checkOf(bytes: Buffer, question: string): Buffer {
  const digest = createHash('sha256').update(question).update('\0').update(bytes.subarray(BODY_AT)).digest();
  return digest.subarray(0, CHECK_BYTES);
}
