import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Config, ConfigError, networksOf, nodesOf } from '../../config/index.ts';
import type { FillIndexOptions } from '../../server/index.ts';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { networkFlag } from '../networkFlag.ts';
import { print } from '../output/print.ts';
import { ProgressBar } from '../output/progressBar.ts';

interface IndexFlags {
  readonly from?: number;
  readonly rewind?: number;
  readonly to?: number;
  readonly network: string;
  readonly upstream?: readonly string[];
  readonly toStore?: true;
  readonly again?: BlockRange;
  readonly retryUnavailable?: true;
  readonly fromDataDir?: string;
}

/** `floodgate index`: fills the index while no server uses the data folder. */
export function registerIndex(program: Command): void {
  const command = program
    .command('index')
    .description(
      'index a range of blocks of --upstream into the data folder, while no server uses it. After an interruption, run it ' +
        'again to continue. With --rewind: remove all blocks above a block instead',
    )
    .option('--from <block>', 'first block', readBlockNumber)
    .option('--to <block>', 'last block; default: the newest final block', readBlockNumber)
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
        'write to the shared index (--trace-store): copy from the index in the data folder, if any, and fetch the rest from --upstream',
      ),
    )
    .addOption(
      new Option(
        '--again <range>',
        'check these blocks, such as 17000000-17000063, and fetch damaged and missing ones from --upstream; with --to-store: replace all of them in the shared index',
      )
        .argParser(readBlockRange)
        .conflicts(['from', 'to', 'rewind', 'retryUnavailable']),
    )
    .addOption(
      new Option(
        '--retry-unavailable',
        'retry the blocks that no node could trace; with --to-store: those of the shared index',
      ).conflicts(['from', 'to', 'rewind']),
    )
    .addOption(
      new Option(
        '--from-data-dir <folder>',
        'add the blocks of the index in another data folder, which no server uses',
      ).conflicts(['from', 'to', 'rewind', 'toStore', 'retryUnavailable']),
    )
    .addOption(networkFlag());
  const options = [
    'dataDir',
    'upstream',
    'traceStore',
    'index.maxBlockBytes',
    'index.traceTimeoutMs',
    'index.checkReceipts',
  ];
  addOwnConfigFlags(command, options).action(async () => {
    const config = readConfig(command);
    const flags = command.opts<IndexFlags>();
    const from = flags.from ?? flags.again?.fromBlock;
    if (flags.retryUnavailable) return retry(config, flags);
    if (flags.fromDataDir !== undefined) return merge(config, flags.network, flags.fromDataDir);
    if (flags.rewind !== undefined) return print(await rewound(config, flags.rewind, flags));
    if (from === undefined)
      throw new ConfigError(
        'the blocks are missing: use --from BLOCK, --from-data-dir FOLDER or --retry-unavailable to index, or --rewind BLOCK to remove',
      );
    await fill(config, { ...flags, from });
  });
}

/** Indexes blocks. Prints the progress and a summary. */
async function fill(
  config: Config,
  { from, to, again, network, upstream, toStore }: IndexFlags & { readonly from: number },
): Promise<void> {
  const { fillIndex, fillSharedIndex, finalityOf, indexAgain, rewriteSharedBlocks } = await import(
    '../../server/index.ts'
  );
  const progress = new ProgressBar(process.stderr);
  const { dataDir, traceStore, index: traceLimits } = config;
  const range = {
    dataDir,
    network,
    fromBlock: from,
    toBlock: again?.toBlock ?? to,
    finality: finalityOf(config.index),
    traceLimits,
    signal: stopAtSignal(),
    progress,
  };
  const shared = { ...range, traceStore, upstream: upstreamOf(config, network, upstream) };
  const local = (): FillIndexOptions => ({ ...range, upstream: nodesOf(config, network, upstream ?? []) });
  const filled = toStore
    ? again === undefined
      ? fillSharedIndex(shared)
      : rewriteSharedBlocks({ ...shared, toBlock: again.toBlock })
    : again === undefined
      ? fillIndex(local())
      : indexAgain({ ...local(), toBlock: again.toBlock });
  await printFilled(filled, progress);
}

/** Prints the summary of a fill. Sets the exit code if it was stopped before its end. */
export async function printFilled(
  filled: Promise<{ readonly complete: boolean }>,
  progress: ProgressBar,
): Promise<void> {
  const { complete } = await filled.finally(() => progress.end());
  await print(
    complete
      ? progress.summary()
      : `${progress.summary()} Stopped before the end: run the same command again to continue.`,
  );
  if (!complete) process.exitCode = EXIT_CODES.interrupted;
}

export function stopAtSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

async function merge({ dataDir }: Config, network: string, fromDataDir: string): Promise<void> {
  const { mergeIndex } = await import('../../server/index.ts');
  const progress = new ProgressBar(process.stderr);
  await printFilled(
    mergeIndex({ dataDir, network, fromDataDir, signal: stopAtSignal(), progress }),
    progress,
  );
}

/** Retries unavailable blocks. Exits with code 1 if some are still unavailable. */
async function retry(config: Config, { network, upstream = [], toStore }: IndexFlags): Promise<void> {
  const { namedBlocks, retryUnavailable } = await import('../../server/index.ts');
  const { indexed, unavailable } = await retryUnavailable({
    traceLimits: config.index,
    dataDir: config.dataDir,
    network,
    signal: stopAtSignal(),
    upstream: nodesOf(config, network, upstream),
    stores: toStore && config,
    trouble: (message) => process.stderr.write(`${message}\n`),
  });
  const left =
    unavailable.length === 0
      ? 'No block is unavailable.'
      : `Still unavailable: ${unavailable.length}, because no node can trace them: ${namedBlocks(unavailable)}.`;
  await print(`Indexed ${indexed} of ${indexed + unavailable.length} unavailable blocks. ${left}`);
  if (unavailable.length > 0) process.exitCode = EXIT_CODES.failed;
}

async function rewound(
  config: Config,
  lastBlock: number,
  { network, upstream, toStore }: IndexFlags,
): Promise<string> {
  const { rewindIndex, rewindSharedIndex } = await import('../../server/index.ts');
  const { dataDir, traceStore, index: traceLimits } = config;
  const trouble = (message: string): void => void process.stderr.write(`${message}\n`);
  const { from, to } = await (toStore
    ? rewindSharedIndex({
        dataDir,
        network,
        lastBlock,
        traceStore,
        traceLimits,
        trouble,
        upstream: upstreamOf(config, network, upstream),
      })
    : rewindIndex({ dataDir, network, lastBlock }));
  if (from === to) return `The index has no block above ${lastBlock}.`;
  return `Removed the blocks above ${lastBlock}, up to ${from}. The highest block of the index is now ${to ?? 'none'}.`;
}

/** Returns the nodes from the flags, otherwise the configured nodes. May be empty: copying an index needs no node. */
function upstreamOf(config: Config, network: string, named: readonly string[] = []): readonly string[] {
  return named.length > 0 || networksOf(config).has(network) ? nodesOf(config, network, named) : [];
}

interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

function readBlockRange(value: string): BlockRange {
  const [first, last = first, ...rest] = value.split('-').map(readBlockNumber);
  if (first === undefined || last === undefined || rest.length > 0 || last < first)
    throw new InvalidArgumentError('It must be a block or a range of blocks, like 17000000-17000063.');
  return { fromBlock: first, toBlock: last };
}

export function readBlockNumber(value: string): number {
  const number = /^(\d{1,10}|0x[0-9a-f]{1,8})$/i.test(value) ? Number(value) : Number.NaN;
  if (!(number <= 0xffffffff))
    throw new InvalidArgumentError('It must be a block number, like 17000000 or 0x1036640.');
  return number;
}
