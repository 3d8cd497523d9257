import { open, rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Node } from './node.ts';

/** The method answers the chain's whole state as hex of gzipped JSON; `anvil --load-state` reads that JSON. */
const DUMP_METHOD = 'anvil_dumpState';

/**
 * Writes the node's chain to `path`, whole or not at all: into a file beside it, flushed to disk, then renamed.
 * (anvil's own `--state-interval` writes in place: killed while it writes, it leaves a file that it cannot read.)
 */
export async function saveState(node: Node, path: string): Promise<void> {
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
