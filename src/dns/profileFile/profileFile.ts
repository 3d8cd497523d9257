/**
 * Profile file: version line, header length (u32, little-endian), JSON header, 16 bytes per name, and the SHA-256 of
 * all preceding bytes.
 */
import { createHash } from 'node:crypto';
import { Value } from 'typebox/value';
import type { Learned, ProfileEntry } from '../detector/index.ts';
import { type ProfileHeader, ProfileHeaderSchema } from './header.ts';

export type { ProfileHeader } from './header.ts';

const MAGIC = 'floodgate profile 1\n';
const ANY_MAGIC = /^floodgate profile (\d{1,6})\n/;
const ENTRY_BYTES = 16;
const ENTRIES_PER_CHUNK = 4096;
const LENGTH_BYTES = 4;
export const DIGEST_BYTES = 32;
/** Enough for 4,000 zones and ninety days of minutes; longer headers are rejected. */
export const MAX_HEADER_BYTES = 32 * 1024 * 1024;

/** Thrown if a file is not a profile, is corrupt, or has an unknown version. */
export class BadProfileFile extends Error {
  override readonly name = 'BadProfileFile';
}

/** Yields the file in chunks. `names` must be the number of entries. */
export function* encodeProfile(
  { learned, names, madeOn }: { readonly learned: Learned; readonly names: number; readonly madeOn: string },
  entries: Iterable<ProfileEntry>,
): Generator<Buffer> {
  const digest = createHash('sha256');
  const head = Buffer.from(JSON.stringify({ madeOn, names, learned } satisfies ProfileHeader));
  const start = Buffer.concat([Buffer.from(MAGIC), Buffer.alloc(LENGTH_BYTES), head]);
  start.writeUInt32LE(head.length, MAGIC.length);
  digest.update(start);
  yield start;
  let chunk = Buffer.alloc(ENTRIES_PER_CHUNK * ENTRY_BYTES);
  let at = 0;
  for (const entry of entries) {
    for (const word of entry) at = chunk.writeUInt32LE(word, at);
    if (at < chunk.length) continue;
    digest.update(chunk);
    yield chunk;
    chunk = Buffer.alloc(chunk.length);
    at = 0;
  }
  const last = chunk.subarray(0, at);
  digest.update(last);
  yield last;
  yield digest.digest();
}

export interface ParsedHeader {
  readonly head: ProfileHeader;
  readonly namesAt: number;
}

/**
 * Reads the header of a file with `fileBytes` bytes. `start` must contain the version line, the length and up to {@link
 * MAX_HEADER_BYTES} of header. Throws `BadProfileFile`, even if only the file size does not match the header.
 */
export function readHeader(start: Buffer, fileBytes: number): ParsedHeader {
  const magic = ANY_MAGIC.exec(start.toString('latin1', 0, MAGIC.length + LENGTH_BYTES));
  if (magic === null)
    throw new BadProfileFile('not a profile file: create one with `floodgate dns profile export`');
  if (magic[0] !== MAGIC)
    throw new BadProfileFile(
      `unsupported format ${magic[1]}: this release reads format 1, use a later release`,
    );
  const headAt = MAGIC.length + LENGTH_BYTES;
  const headBytes = start.length < headAt ? 0 : start.readUInt32LE(MAGIC.length);
  if (headBytes > MAX_HEADER_BYTES)
    throw new BadProfileFile(
      `corrupt file: header of ${headBytes} bytes, at most ${MAX_HEADER_BYTES} are allowed`,
    );
  const namesAt = headAt + headBytes;
  if (start.length < namesAt) throw new BadProfileFile('corrupt file: truncated header');
  const head = parseHeader(start.toString('utf8', headAt, namesAt));
  const wanted = namesAt + head.names * ENTRY_BYTES + DIGEST_BYTES;
  if (fileBytes !== wanted) throw new BadProfileFile(`corrupt file: ${fileBytes} bytes instead of ${wanted}`);
  return { head, namesAt };
}

/** Yields the names from the bytes between header and checksum, in chunks of any length. */
export function* decodeEntries(pieces: Iterable<Buffer>): Generator<ProfileEntry> {
  let rest: Buffer = Buffer.alloc(0);
  for (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES)
      yield [
        bytes.readUInt32LE(at),
        bytes.readUInt32LE(at + 4),
        bytes.readUInt32LE(at + 8),
        bytes.readUInt32LE(at + 12),
      ];
    rest = bytes.subarray(at);
  }
}

function parseHeader(text: string): ProfileHeader {
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch {
    throw new BadProfileFile('corrupt file: the header is not JSON');
  }
  const [error] = Value.Errors(ProfileHeaderSchema, head);
  if (error !== undefined)
    throw new BadProfileFile(`corrupt file: header member ${error.instancePath || '/'} ${error.message}`);
  return head as ProfileHeader; // validated above
}
