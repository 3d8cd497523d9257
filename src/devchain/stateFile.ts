import { open, readFile, rename } from 'node:fs/promises';
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

/** Writes the chain to `path`. */
async function saveState(node: Node, path: string): Promise<void> {
  const dump = await node.call<string>(DUMP_METHOD);
  await replaceFile(path, await promisify(gunzip)(Buffer.from(dump.slice(2), 'hex')));
}

interface State {
  readonly blocks?: readonly { readonly header: { readonly number: string; readonly timestamp: string } }[];
}

/**
 * Removes all genesis blocks except the oldest from a saved chain. Each start of anvil adds a new genesis block to the
 * chain that it loads, and the next start would use any of them as block 0.
 */
export async function keepFirstGenesis(path: string): Promise<void> {
  const state: State = JSON.parse(await readFile(path, 'utf8'));
  const { blocks = [] } = state;
  const genesis = blocks.filter(({ header }) => Number(header.number) === 0);
  if (genesis.length < 2) return;
  const [first] = genesis.sort((a, b) => Number(a.header.timestamp) - Number(b.header.timestamp));
  const kept = blocks.filter((block) => block === first || !genesis.includes(block));
  await replaceFile(path, JSON.stringify({ ...state, blocks: kept }));
}

/** Replaces a file atomically. anvil's `--state-interval` does not, so that a kill may break the file. */
async function replaceFile(path: string, state: Buffer | string): Promise<void> {
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
