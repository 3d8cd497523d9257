/** Reads and writes constant databases (D. J. Bernstein's cdb). dnsdist looks up known names in such a file. */

const HEADER_BYTES = 2048;
const TABLES = 256;
const SLOT_BYTES = 8;
const RECORD_HEADER_BYTES = 8;
/** Maximum file size, because offsets have 32 bits. */
const MAX_BYTES = 2 ** 32;
export type CdbEntry = readonly [key: Uint8Array, value: Uint8Array];

/** Returns the bytes of a cdb file with these entries. Keys must be unique. Throws if the file exceeds 4 GiB. */
export function cdbOf(entries: Iterable<CdbEntry>): Buffer {
  const records: Buffer[] = [];
  const tables: { hash: number; at: number }[][] = Array.from({ length: TABLES }, () => []);
  let at = HEADER_BYTES;
  for (const [key, value] of entries) {
    const record = Buffer.alloc(RECORD_HEADER_BYTES + key.length + value.length);
    record.writeUInt32LE(key.length, 0);
    record.writeUInt32LE(value.length, 4);
    record.set(key, RECORD_HEADER_BYTES);
    record.set(value, RECORD_HEADER_BYTES + key.length);
    records.push(record);
    const hash = cdbHash(key);
    tables[hash % TABLES]?.push({ hash, at });
    at += record.length;
  }
  const header = Buffer.alloc(HEADER_BYTES);
  const slots: Buffer[] = [];
  for (const [index, slotsOfTable] of tables.entries()) {
    const table = tableOf(slotsOfTable);
    header.writeUInt32LE(at, index * SLOT_BYTES);
    header.writeUInt32LE(table.length / SLOT_BYTES, index * SLOT_BYTES + 4);
    slots.push(table);
    at += table.length;
    if (at >= MAX_BYTES) throw new Error('known names exceed the maximum size of a cdb file (4 GiB)');
  }
  return Buffer.concat([header, ...records, ...slots]);
}

/** Yields the entries of a file written by {@link cdbOf}, in the order of writing. Ends early if it is truncated. */
export function* cdbEntries(file: Buffer): Generator<CdbEntry> {
  if (file.length < HEADER_BYTES) return;
  const end = Math.min(file.readUInt32LE(0), file.length);
  for (let at = HEADER_BYTES; at + RECORD_HEADER_BYTES <= end; ) {
    const keyEnd = at + RECORD_HEADER_BYTES + file.readUInt32LE(at);
    const next = keyEnd + file.readUInt32LE(at + 4);
    if (next > end) return;
    yield [file.subarray(at + RECORD_HEADER_BYTES, keyEnd), file.subarray(keyEnd, next)];
    at = next;
  }
}

/** Builds one of the 256 hash tables of a file. A table has twice as many slots as entries, and linear probing. */
function tableOf(entries: readonly { hash: number; at: number }[]): Buffer {
  const count = entries.length * 2;
  const table = Buffer.alloc(count * SLOT_BYTES);
  for (const { hash, at } of entries) {
    let slot = (hash >>> 8) % count;
    while (table.readUInt32LE(slot * SLOT_BYTES + 4) !== 0) slot = (slot + 1) % count;
    table.writeUInt32LE(hash, slot * SLOT_BYTES);
    table.writeUInt32LE(at, slot * SLOT_BYTES + 4);
  }
  return table;
}

function cdbHash(key: Uint8Array): number {
  let hash = 5381;
  for (const byte of key) hash = (((hash << 5) + hash) ^ byte) >>> 0;
  return hash;
}
