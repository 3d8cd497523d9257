import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MainnetLike } from './mainnetLike.ts';

/** A generated chain in a file: the results of a node, as bytes. */
export interface MadeChain {
  readonly first: number;
  readonly last: number;
  /** The result of eth_getBlockByNumber. */
  header(blockNumber: number): Buffer;
  /** The result of trace_block. */
  traces(blockNumber: number): Buffer;
  close(): void;
}

interface Directory {
  readonly first: number;
  readonly last: number;
  readonly genesis: object;
  readonly headers: readonly object[];
  /** Start offset of each block's traces, and the end offset of the last. */
  readonly offsets: readonly number[];
}

interface MadeChainOptions {
  readonly first: number;
  readonly last: number;
  readonly tracesPerBlock: number;
}

/** Generates blocks `first` to `last` and stores them in `folder`. */
export function makeChain(
  folder: string,
  { first, last, tracesPerBlock }: MadeChainOptions,
  progress: (done: number, total: number) => void,
): void {
  const chain = new MainnetLike(1, tracesPerBlock);
  const genesis = chain.block(0).header;
  const headers: object[] = [];
  const offsets = [0];
  const file = openSync(join(folder, 'traces.json'), 'w');
  for (let number = first; number <= last; number++) {
    const { header, traces } = chain.block(number);
    const bytes = Buffer.from(JSON.stringify(traces));
    writeSync(file, bytes);
    headers.push(header);
    offsets.push((offsets.at(-1) ?? 0) + bytes.length);
    progress(number - first + 1, last - first + 1);
  }
  closeSync(file);
  writeFileSync(
    join(folder, 'chain.json'),
    JSON.stringify({ first, last, genesis, headers, offsets } satisfies Directory),
  );
}

export function openMadeChain(folder: string): MadeChain {
  const { first, last, genesis, headers, offsets } = JSON.parse(
    readFileSync(join(folder, 'chain.json'), 'utf8'),
  ) as Directory;
  const file = openSync(join(folder, 'traces.json'), 'r');
  return {
    first,
    last,
    header: (number) => Buffer.from(JSON.stringify(number === 0 ? genesis : headers[number - first])),
    traces(number) {
      const start = offsets[number - first] ?? 0;
      const bytes = Buffer.allocUnsafe((offsets[number - first + 1] ?? 0) - start);
      readSync(file, bytes, 0, bytes.length, start);
      return bytes;
    },
    close: () => closeSync(file),
  };
}
