import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Config, ConfigError, networksOf, nodesOf } from '../../config/index.ts';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { networkFlag } from '../networkFlag.ts';
import { print } from '../print.ts';
import { ProgressBar } from '../progressBar.ts';

interface IndexFlags {
  readonly from?: number;
  readonly rewind?: number;
  readonly to?: number;
  readonly network: string;
  readonly upstream?: readonly string[];
  readonly toStore?: true;
}

/** `floodgate index`: fills the index while no server runs on the data folder. */
export function registerIndex(program: Command): void {
  const command = program
    .command('index')
    .description(
      'index a range of blocks of --upstream into the data folder, while no server runs on it. It may be stopped or killed ' +
        'at any point: run it again and it continues. With --rewind: remove the blocks above one instead',
    )
    .option('--from <block>', 'first block', readBlockNumber)
    .option('--to <block>', 'last block; left out: the newest that is final', readBlockNumber)
    .addOption(
      new Option(
        '--rewind <block>',
        'remove all blocks above this one from the index, final ones too; the server fetches them again',
      )
        .argParser(readBlockNumber)
        .conflicts(['from', 'to']),
    )
    .addOption(
      new Option(
        '--to-store',
        'into the index that instances share (--trace-store): out of the data folder, where that has an index, and from --upstream',
      ).conflicts(['rewind']),
    )
    .addOption(networkFlag());
  const options = ['dataDir', 'upstream', 'traceStore', 'traceStorePostgres', 'rules.store'];
  addOwnConfigFlags(command, options).action(async () => {
    const config = readConfig(command);
    const { from, to, rewind, network, upstream, toStore } = command.opts<IndexFlags>();
    if (rewind !== undefined) return print(await rewound(config.dataDir, network, rewind));
    if (from === undefined)
      throw new ConfigError('say which blocks to index, --from BLOCK, or which to remove, --rewind BLOCK');
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    const { fillIndex, fillSharedIndex } = await import('../../server/index.ts');
    const progress = new ProgressBar(process.stderr);
    const { dataDir } = config;
    const fill = { dataDir, network, fromBlock: from, toBlock: to, signal: stop.signal, progress };
    const filled = toStore
      ? fillSharedIndex({ ...fill, stores: config, upstream: upstreamOf(config, network, upstream) })
      : fillIndex({ ...fill, upstream: nodesOf(config, network, upstream ?? []) });
    const { complete } = await filled.finally(() => progress.end());
    await print(
      complete
        ? progress.summary()
        : `${progress.summary()} Stopped before the end: run the same command again to go on.`,
    );
    if (!complete) process.exitCode = EXIT_CODES.interrupted;
  });
}

async function rewound(dataDir: string, network: string, lastBlock: number): Promise<string> {
  const { rewindIndex } = await import('../../server/index.ts');
  const { from, to } = await rewindIndex({ dataDir, network, lastBlock });
  if (from === to) return `The index has no block above ${lastBlock}.`;
  return `Removed the blocks above ${lastBlock}, up to ${from}. The highest block of the index is now ${to ?? 'none'}.`;
}

/** Those that are named or configured; none where there are none, as an index may be copied without. */
function upstreamOf(config: Config, network: string, named: readonly string[] = []): readonly string[] {
  return named.length > 0 || networksOf(config).has(network) ? nodesOf(config, network, named) : [];
}

export function readBlockNumber(value: string): number {
  const number = /^(\d{1,10}|0x[0-9a-f]{1,8})$/i.test(value) ? Number(value) : Number.NaN;
  if (!(number <= 0xffffffff))
    throw new InvalidArgumentError('It must be a block number, like 17000000 or 0x1036640.');
  return number;
}
