/** The learned profile of a data folder, out to a file and in again on another machine. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  BadProfileFile,
  DIGEST_BYTES,
  entriesOf,
  MAX_HEAD_BYTES,
  profileChunks,
  readHead,
} from '../dns/profileFile/index.ts';
import { DnsStore } from '../dns/store/lmdb/index.ts';
import { lockDataDir } from './dataDirLock.ts';

const READ_BYTES = 1024 * 1024;
/** A server that saves meanwhile takes the names away that were being read. */
const MAX_ATTEMPTS = 5;

/** The profile cannot be moved; the message says what to do. */
class ProfileError extends Error {
  override readonly name = 'ProfileError';
}

export interface MovedProfile {
  readonly names: number;
  readonly zones: number;
}

/** Writes the profile that was saved last; the server may be running. */
export async function exportProfile(dataDir: string, file: string): Promise<MovedProfile> {
  if (!existsSync(join(dataDir, 'dns')))
    throw new ProfileError(`${dataDir} holds no profile: name the data folder of a server that guards DNS`);
  if (existsSync(file)) throw new ProfileError(`${file} is there already: name another file`);
  const store = DnsStore.open(dataDir);
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const moved = tryToExport(store, file);
      if (moved !== undefined) return moved;
      await new Promise(setImmediate);
    }
    throw new ProfileError('the server saves its profile again and again: try again later');
  } finally {
    await store.close();
  }
}

function tryToExport(store: DnsStore, file: string): MovedProfile | undefined {
  const stored = store.load();
  if (stored === undefined)
    throw new ProfileError(
      'nothing was learned yet: the server saves it every ten minutes, and when it stops',
    );
  const { learned } = stored;
  if (learned.form === undefined || learned.savedMs === undefined)
    throw new ProfileError('the profile is of an older Floodgate: start and stop this one on it first');
  let names = 0;
  for (const _ of stored.entries) names++;
  const head = { learned, names, madeOn: new Date().toISOString() };
  const partial = `${file}.partial`;
  const descriptor = openSync(partial, 'w', 0o600);
  try {
    for (const chunk of profileChunks(head, store.load()?.entries ?? [])) writeAll(descriptor, chunk);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  // What was saved meanwhile may be what was read, or a part of it.
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
  /** Puts it in place of what was learned there. */
  readonly replaces: boolean;
}

/** Reads a profile into a data folder, all of it or nothing; no server may run there. Throws `BadProfileFile`. */
export async function importProfile({ dataDir, file, replaces }: ImportOptions): Promise<MovedProfile> {
  const descriptor = openSync(file, 'r');
  try {
    const { head, pieces } = checked(descriptor);
    const lock = lockDataDir(dataDir);
    try {
      const store = DnsStore.open(dataDir);
      try {
        if (!replaces && store.load() !== undefined)
          throw new ProfileError(`${dataDir} has a profile already; --replace puts this one in its place`);
        await store.save(head.learned, entriesOf(pieces()));
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

/** The head of a file that is whole, and how to read its names. */
function checked(descriptor: number) {
  const { size } = fstatSync(descriptor);
  const start = Buffer.concat([...piecesOf(descriptor, 0, Math.min(size, MAX_HEAD_BYTES + READ_BYTES))]);
  const { head, namesAt } = readHead(start, size);
  const digestAt = size - DIGEST_BYTES;
  const digest = createHash('sha256');
  for (const piece of piecesOf(descriptor, 0, digestAt)) digest.update(piece);
  const [written] = piecesOf(descriptor, digestAt, size);
  if (written === undefined || !digest.digest().equals(written))
    throw new BadProfileFile('it is not whole: its digest is another');
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
