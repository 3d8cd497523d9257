import { open, rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { inBackground } from '../platform/background/index.ts';
import { SerialQueue } from '../platform/serialQueue/index.ts';
import type { Node } from './node.ts';

/** Interval between saves. Even at one block per second, a kill loses only non-final blocks (the newest 64). */
const SAVE_INTERVAL_MS = 30_000;
/** Maximum share of time that saves may take. A save may take seconds, in which anvil does nothing else. */
const SAVE_SHARE = 0.05;

/** Method that returns the state of the whole chain, as hex of gzipped JSON. `anvil --load-state` reads that JSON. */
const DUMP_METHOD = 'anvil_dumpState';

export interface StateKeeper {
  /** Saves the chain now. If a save is running, waits for its end first. */
  save(): Promise<void>;
  close(): void;
}

/** Saves a node's chain to `path` every half minute, less often if saves are slow. Passes failures to `log`. */
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
    if (!closed)
      timer = setTimeout(() => inBackground('development chain state', saveAndGoOn), delayMs).unref();
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

/** Writes the chain to `path` atomically. anvil's `--state-interval` does not, so that a kill may break the file. */
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
