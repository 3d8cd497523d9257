import { open, rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { SerialQueue } from '../platform/serialQueue/index.ts';
import type { Node } from './node.ts';

/** What a kill can cost: the blocks of this time. At a block a second, fewer than the 64 that are not final. */
const SAVE_INTERVAL_MS = 30_000;
/** A long chain takes seconds to save, in which anvil does nothing else: at most this share of its time. */
const SAVE_SHARE = 0.05;

/** The method answers the chain's whole state as hex of gzipped JSON; `anvil --load-state` reads that JSON. */
const DUMP_METHOD = 'anvil_dumpState';

export interface StateKeeper {
  /** Saves the chain now, after a save that is under way. */
  save(): Promise<void>;
  /** Saves no more by itself. */
  close(): void;
}

/** Saves a node's chain to `path` every half minute, a long one less often. A save that fails is told to `log`. */
export function keepState(options: {
  readonly node: Node;
  readonly path: string;
  readonly log: (line: string) => void;
}): StateKeeper {
  const { node, path, log } = options;
  const saves = new SerialQueue();
  const save = (): Promise<void> => saves.run(() => saveState(node, path));
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const saveIn = (delayMs: number): void => {
    if (!closed) timer = setTimeout(saveAndGoOn, delayMs).unref();
  };
  const saveAndGoOn = async (): Promise<void> => {
    const began = performance.now();
    await save().catch((error) => closed || log(notSaved(error)));
    saveIn(Math.max(SAVE_INTERVAL_MS, (performance.now() - began) / SAVE_SHARE));
  };
  const close = (): void => {
    closed = true;
    clearTimeout(timer);
  };
  saveIn(SAVE_INTERVAL_MS);
  return { save, close };
}

export const notSaved = (error: unknown): string => `the development chain could not be saved: ${error}`;

/**
 * Writes the node's chain to `path`, whole or not at all: into a file beside it, flushed to disk, then renamed.
 * (anvil's own `--state-interval` writes in place: killed while it writes, it leaves a file that it cannot read.)
 */
async function saveState(node: Node, path: string): Promise<void> {
  const dump = await node.call<string>(DUMP_METHOD);
  const state = await promisify(gunzip)(Buffer.from(dump.slice(2), 'hex'));
  const unfinished = `${path}.unfinished`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(state);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
