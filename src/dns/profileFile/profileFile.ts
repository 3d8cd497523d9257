/**
 * The file of a profile: a line with its version, the length of its head (32 bits, the least byte first), the head as JSON, 16 bytes a name, and
 * the SHA-256 of all that.
 */
import { createHash } from 'node:crypto';
import { Value } from 'typebox/value';
import type { Learned, ProfileEntry } from '../detector/index.ts';
import { type ProfileHead, ProfileHeadSchema } from './head.ts';

export type { ProfileHead } from './head.ts';

const MAGIC = 'floodgate profile 1\n';
const ANY_MAGIC = /^floodgate profile (\d{1,6})\n/;
const ENTRY_BYTES = 16;
const ENTRIES_PER_CHUNK = 4096;
const LENGTH_BYTES = 4;
export const DIGEST_BYTES = 32;
/** Of four thousand zones and ninety days of minutes; what claims to have more is no profile. */
export const MAX_HEAD_BYTES = 32 * 1024 * 1024;

/** A file that is no profile, not whole, or of another version. */
export class BadProfileFile extends Error {
  override readonly name = 'BadProfileFile';
}

/** The file, piece by piece. `names` are how many entries there are. */
export function* profileChunks(
  { learned, names, madeOn }: { readonly learned: Learned; readonly names: number; readonly madeOn: string },
  entries: Iterable<ProfileEntry>,
): Generator<Buffer> {
  const digest = createHash('sha256');
  const head = Buffer.from(JSON.stringify({ madeOn, names, learned } satisfies ProfileHead));
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

export interface ReadHead {
  readonly head: ProfileHead;
  /** Where the names begin. */
  readonly namesAt: number;
}

/**
 * Reads the head of a file of so many bytes. `start` is how it begins: all of it, or {@link MAX_HEAD_BYTES} and some. Throws `BadProfileFile`
 * where it is not as long as it says.
 */
export function readHead(start: Buffer, fileBytes: number): ReadHead {
  const magic = ANY_MAGIC.exec(start.toString('latin1', 0, MAGIC.length + LENGTH_BYTES));
  if (magic === null) throw new BadProfileFile('it is no profile: `floodgate dns profile export` makes one');
  if (magic[0] !== MAGIC)
    throw new BadProfileFile(`it has format ${magic[1]}; this Floodgate reads format 1: use a later one`);
  const headAt = MAGIC.length + LENGTH_BYTES;
  const headBytes = start.length < headAt ? 0 : start.readUInt32LE(MAGIC.length);
  if (headBytes > MAX_HEAD_BYTES)
    throw new BadProfileFile(`its head has ${headBytes} bytes; the most is ${MAX_HEAD_BYTES}`);
  const namesAt = headAt + headBytes;
  if (start.length < namesAt) throw new BadProfileFile('it is not whole: its head is cut off');
  const head = parsedHead(start.toString('utf8', headAt, namesAt));
  const wanted = namesAt + head.names * ENTRY_BYTES + DIGEST_BYTES;
  if (fileBytes !== wanted)
    throw new BadProfileFile(`it is not whole: it has ${fileBytes} bytes, and says that it has ${wanted}`);
  return { head, namesAt };
}

/** The names in the bytes between head and digest, in pieces of any length. */
export function* entriesOf(pieces: Iterable<Buffer>): Generator<ProfileEntry> {
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

function parsedHead(text: string): ProfileHead {
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch {
    throw new BadProfileFile('it is not whole: its head is no JSON');
  }
  const [error] = Value.Errors(ProfileHeadSchema, head);
  if (error !== undefined)
    throw new BadProfileFile(
      `what it says at ${error.instancePath || '/'} is not as it should be: ${error.message}`,
    );
  return head as ProfileHead; // checked
}
