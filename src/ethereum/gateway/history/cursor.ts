import { createHash } from 'node:crypto';
import { RpcError } from '../../jsonrpc/index.ts';
import type { BlockRange, Hash, HistoryPlace } from '../../traces/index.ts';

/** What a page says of where the next one goes on. */
export interface HistoryCursor {
  /** The range as the first page settled it. */
  readonly range: BlockRange;
  readonly behind: HistoryPlace;
}

/**
 * The layout of a cursor, before it is written as base64url: u8 version, 8 bytes that tell the question and what follows, three block
 * numbers of 6 bytes (the range, the place's block), u32 the trace's index, and the block's hash where it is known.
 *
 * Nothing in it is secret and nothing is kept for it, so any process goes on from it. It needs no key either: one that is made up can
 * ask for nothing that its sender could not ask for with a range.
 */
const VERSION = 1;
const CHECK_BYTES = 8;
const CHECK_AT = 1;
const BODY_AT = CHECK_AT + CHECK_BYTES;
const NUMBER_BYTES = 6;
const HASH_AT = BODY_AT + 3 * NUMBER_BYTES + 4;
const HASH_BYTES = 32;

/** Letters of the longest. */
const MAX_LENGTH = Math.ceil(((HASH_AT + HASH_BYTES) * 4) / 3);

/** `question` is all that was asked for, but for the size of the page: a cursor is good for that alone. */
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

/** Throws RpcError for what is no cursor, and for one that was given for another question. */
export function decodeCursor(text: string, question: string): HistoryCursor {
  const bytes = Buffer.from(text.length <= MAX_LENGTH && CURSOR.test(text) ? text : '', 'base64url');
  const isWhole = bytes.length === HASH_AT || bytes.length === HASH_AT + HASH_BYTES;
  if (!isWhole || bytes[0] !== VERSION || bytes.toString('base64url') !== text) throw badCursor();
  if (!checkOf(bytes, question).equals(bytes.subarray(CHECK_AT, BODY_AT))) throw badCursor();
  const [fromBlock = 0, toBlock = 0, blockNumber = 0] = [0, 1, 2].map((i) =>
    bytes.readUIntBE(BODY_AT + i * NUMBER_BYTES, NUMBER_BYTES),
  );
  const traceIndex = bytes.readUInt32BE(BODY_AT + 3 * NUMBER_BYTES);
  // The cast holds: 32 bytes as lower-case digits are a hash.
  const blockHash = `0x${bytes.toString('hex', HASH_AT)}` as Hash;
  return {
    range: { fromBlock, toBlock },
    behind: { blockNumber, traceIndex, ...(bytes.length > HASH_AT && { blockHash }) },
  };
}

const badCursor = (): RpcError =>
  new RpcError(
    'invalidParams',
    'cursor must be the one of the page before, with all other members as they were, but for limit; to begin anew leave it out',
  );

function checkOf(bytes: Buffer, question: string): Buffer {
  const digest = createHash('sha256').update(question).update('\0').update(bytes.subarray(BODY_AT)).digest();
  return digest.subarray(0, CHECK_BYTES);
}
