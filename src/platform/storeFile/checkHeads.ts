import { closeSync, existsSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../regularFile/index.ts';

/** Thrown if the data file of a store is not a whole LMDB file, whose opening would crash the process. */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError';

  constructor(file: string, problem: string) {
    super(`${file} is damaged: ${problem}. Restore a backup, or remove the folder of the store`);
  }
}

/** Layout of the two heads of an LMDB file, each at the start of one of the first two pages (mdb.c, MDB_meta). */
const HEAD_AT = 24;
const HEAD_BYTES = 136;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const VERSION_AT = 4;
const PAGE_SIZE_AT = 24;
/** Offsets of the numbers of the root pages of the two databases that contain all others. */
const ROOTS_AT = [64, 112];
const NO_PAGE = 2n ** 64n - 1n;
const [MIN_PAGE_BYTES, MAX_PAGE_BYTES] = [512, 65_536];

/** Throws StoreDamagedError if the heads of an LMDB file are not valid. LMDB creates a missing or empty file. */
export function checkHeads(path: string): void {
  if (!existsSync(path)) return;
  const file = openRegular(path);
  try {
    const { size } = fstatSync(file);
    if (size === 0) return;
    const pageBytes = checkHead(headAt(0), size);
    checkHead(headAt(pageBytes), size);
  } finally {
    closeSync(file);
  }

  function headAt(start: number): Buffer {
    const head = Buffer.alloc(HEAD_BYTES);
    if (readSync(file, head, 0, HEAD_BYTES, start + HEAD_AT) < HEAD_BYTES)
      throw new StoreDamagedError(path, 'it ends before its second page');
    return head;
  }

  function checkHead(head: Buffer, size: number): number {
    const version = head.readUInt32LE(VERSION_AT) & 0xffff;
    if (head.readUInt32LE(0) !== MAGIC || version !== DATA_VERSION)
      throw new StoreDamagedError(path, `it is not an LMDB file of version ${DATA_VERSION}`);
    const pageBytes = head.readUInt32LE(PAGE_SIZE_AT);
    const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
    if (pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES || !isPowerOfTwo)
      throw new StoreDamagedError(
        path,
        `its page size is ${pageBytes}; allowed: powers of two from ${MIN_PAGE_BYTES} to ${MAX_PAGE_BYTES}`,
      );
    for (const at of ROOTS_AT) {
      const root = head.readBigUInt64LE(at);
      if (root !== NO_PAGE && (root + 1n) * BigInt(pageBytes) > BigInt(size))
        throw new StoreDamagedError(path, `page ${root} is after its end`);
    }
    return pageBytes;
  }
}
