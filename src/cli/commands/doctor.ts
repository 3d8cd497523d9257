import type { Command } from 'commander';
import { ConfigError } from '../../config/index.ts';
import { examineNode } from '../../server/index.ts';
import { addConfigFlags, readConfig } from '../configFlags.ts';
import { print } from '../print.ts';

/** `floodgate doctor`: what each node is and offers; exit code 0 where all of them can be indexed from. */
export function registerDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'Say in plain words what each --upstream node is, which traces it gives, how far back, and what will not be exact.',
    );
  addConfigFlags(command).action(async () => {
    const { upstream } = readConfig(command);
    if (upstream.length === 0)
      throw new ConfigError(
        'no Ethereum node to look at: name one with --upstream URL (or FLOODGATE_UPSTREAM)',
      );
    for (const url of upstream) {
      const { node, lines, isUsable } = await examineNode(url);
      await print(`${node}: ${isUsable ? 'can be indexed from' : 'cannot be indexed from'}`);
      for (const line of lines) await print(`  ${line}`);
      if (!isUsable) process.exitCode = 1;
    }
  });
}
