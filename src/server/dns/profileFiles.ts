/** Export and import of the learned profile of a data folder, to move it to another machine. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  BadProfileFile,
  DIGEST_BYTES,
  decodeEntries,
  encodeProfile,
  MAX_HEADER_BYTES,
  readHeader,
} from '../../dns/profileFile/index.ts';
import { DnsStore } from '../../dns/store/lmdb/index.ts';
import { openRegular } from '../../platform/regularFile/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';

const READ_BYTES = 1024 * 1024;
/**
 * Maximum number of attempts to export. An attempt fails if a server saves its profile, which deletes the names that
 * are being read.
 */
const MAX_ATTEMPTS = 5;

/** Thrown if a profile cannot be exported or imported. The message tells the user what to do. */
class ProfileError extends Error {
  override readonly name = 'ProfileError';
}

export interface MovedProfile {
  readonly names: number;
  readonly zones: number;
}

/** Writes the last saved profile of a data folder to a file. A server may use the folder meanwhile. */
export async function exportProfile(dataDir: string, file: string): Promise<MovedProfile> {
  if (!existsSync(join(dataDir, 'dns')))
    throw new ProfileError(`${dataDir} contains no profile: use the data folder of a DNS guard`);
  if (existsSync(file)) throw new ProfileError(`${file} already exists: choose another file`);
  const store = DnsStore.open(dataDir);
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const moved = tryToExport(store, file);
      if (moved !== undefined) return moved;
      await new Promise(setImmediate);
    }
    throw new ProfileError('the server saved its profile during every attempt: try again later');
  } finally {
    await store.close();
  }
}

function tryToExport(store: DnsStore, file: string): MovedProfile | undefined {
  const stored = store.load();
  if (stored === undefined)
    throw new ProfileError(
      'no profile was saved yet: the server saves it every ten minutes and when it stops',
    );
  const { learned } = stored;
  let names = 0;
  for (const _ of stored.entries) names++;
  const head = { learned, names, madeOn: new Date().toISOString() };
  const partial = `${file}.partial`;
  const descriptor = openSync(partial, 'w', 0o600);
  try {
    for (const chunk of encodeProfile(head, store.load()?.entries ?? [])) writeAll(descriptor, chunk);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  // If the server saved its profile during the export, the file may contain parts of two profiles.
  if (!isWhole(partial) || store.load()?.learned.savedMs !== learned.savedMs) {
    rmSync(partial);
    return undefined;
  }
  renameSync(partial, file);
  return { names, zones: learned.zones.length };
}

export interface ImportOptions {
  readonly dataDir: string;
  readonly file: string;
  /** True to overwrite the profile in the data folder. */
  readonly replaces: boolean;
}

/** Imports a profile into a data folder that no server uses, completely or not at all. Throws BadProfileFile. */
export async function importProfile({ dataDir, file, replaces }: ImportOptions): Promise<MovedProfile> {
  // The checksum is at the end of the file, so a pipe cannot be read.
  const descriptor = openRegular(realpathSync(file));
  try {
    const { head, pieces } = checked(descriptor);
    const lock = lockDataDir(dataDir);
    try {
      const store = DnsStore.open(dataDir);
      try {
        if (!replaces && store.load() !== undefined)
          throw new ProfileError(`${dataDir} already has a profile: use --replace to overwrite it`);
        await store.save(head.learned, decodeEntries(pieces()));
      } finally {
        await store.close();
      }
    } finally {
      lock.release();
    }
    return { names: head.names, zones: head.learned.zones.length };
  } finally {
    closeSync(descriptor);
  }
}

function isWhole(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    checked(descriptor);
    return true;
  } catch (error) {
    if (error instanceof BadProfileFile) return false;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Verifies the checksum of a profile file. Returns the head of the file, and a function that reads the names. */
function checked(descriptor: number) {
  const { size } = fstatSync(descriptor);
  const start = Buffer.concat([...piecesOf(descriptor, 0, Math.min(size, MAX_HEADER_BYTES + READ_BYTES))]);
  const { head, namesAt } = readHeader(start, size);
  const digestAt = size - DIGEST_BYTES;
  const digest = createHash('sha256');
  for (const piece of piecesOf(descriptor, 0, digestAt)) digest.update(piece);
  const [written] = piecesOf(descriptor, digestAt, size);
  if (written === undefined || !digest.digest().equals(written))
    throw new BadProfileFile('corrupt file: checksum mismatch');
  return { head, pieces: () => piecesOf(descriptor, namesAt, digestAt) };
}

function* piecesOf(descriptor: number, from: number, to: number): Generator<Buffer> {
  for (let at = from; at < to; ) {
    const piece = Buffer.alloc(Math.min(READ_BYTES, to - at));
    const bytes = readSync(descriptor, piece, 0, piece.length, at);
    if (bytes === 0) return;
    yield piece.subarray(0, bytes);
    at += bytes;
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
