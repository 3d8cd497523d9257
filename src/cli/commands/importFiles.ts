import type { Command } from 'commander';
import { nodesOf } from '../../config/index.ts';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { networkFlag } from '../networkFlag.ts';
import { ProgressBar } from '../output/progressBar.ts';
import { printFilled, stopAtSignal } from './indexBlocks.ts';

interface ImportFlags {
  readonly traces: readonly string[];
  readonly headers: readonly string[];
  readonly node?: readonly string[];
  readonly network: string;
  readonly toStore?: true;
}

/** `floodgate import`: adds the blocks of files to the index while no server uses the data folder. */
export function registerImport(program: Command): void {
  const command = program
    .command('import')
    .description(
      'add the blocks of files to the index in the data folder, while no server uses it: exports of Floodgate, Parquet of ' +
        'cryo, CSV of ethereum-etl. After an interruption, run it again to continue',
    )
    .requiredOption('--traces <file...>', 'files with traces, in ascending order of their blocks')
    .requiredOption('--headers <file...>', 'files with the headers of all blocks, in ascending order')
    .option('--node <url...>', 'node that returns what files of other programs lack')
    .option('--to-store', 'write to the shared index (--trace-store)')
    .addOption(networkFlag());
  const options = [
    'dataDir',
    'traceStore',
    'index.maxBlockBytes',
    'index.traceTimeoutMs',
    'index.checkReceipts',
  ];
  addOwnConfigFlags(command, options).action(async () => {
    const config = readConfig(command);
    const { traces, headers, node = [], network, toStore = false } = command.opts<ImportFlags>();
    const { importFiles } = await import('../../server/index.ts');
    const progress = new ProgressBar(process.stderr);
    const imported = importFiles({
      dataDir: config.dataDir,
      network,
      traceLimits: config.index,
      signal: stopAtSignal(),
      progress,
      traces,
      headers,
      nodes: node.length === 0 ? [] : nodesOf(config, network, node),
      toStore,
      traceStore: config.traceStore,
    });
    await printFilled(imported, progress);
  });
}
