import type { Command } from 'commander';
import { MAINNET, networksOf, nodesOf } from '../../config/index.ts';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { print } from '../print.ts';

interface DoctorFlags {
  readonly json?: boolean;
  readonly network?: string;
  readonly upstream?: readonly string[];
}

/** `floodgate doctor`: what each node is and offers; exit code 0 where all of them can be indexed from. */
export function registerDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'say in plain words what each node is, which traces it gives, how far back, and what will not be exact: the nodes of ' +
        '--upstream, or all that are configured',
    )
    .option('--json', 'print a JSON object a line')
    .option('--network <name>', 'only the nodes of this network, as the configuration file names it');
  addOwnConfigFlags(command, ['upstream']).action(async () => {
    const { examineNode } = await import('../../server/index.ts');
    const { json } = command.opts<DoctorFlags>();
    for (const [network, urls] of nodesToLookAt(command)) {
      const chains = new Map<string, string>();
      for (const url of urls) {
        const { node, lines, isUsable, chain } = await examineNode(url);
        const verdict = `${node}: ${isUsable ? 'can be indexed from' : 'cannot be indexed from'}`;
        const told = [verdict, ...lines.map((line) => `  ${line}`)].join('\n');
        await print(json ? JSON.stringify({ network, node, usable: isUsable, remarks: lines }) : told);
        if (!isUsable) process.exitCode = EXIT_CODES.failed;
        if (chain !== undefined) chains.set(node, chain);
      }
      if (new Set(chains.values()).size <= 1) continue;
      // Beside a list that a program reads it is told on standard error.
      const tell = json ? (text: string) => process.stderr.write(`${text}\n`) : print;
      await tell(
        `The nodes of ${network} are on different chains, and the server will not start in front of them: ` +
          `${[...chains].map(([node, chain]) => `${node} is on ${chain}`).join('; ')}. Name nodes of one chain a network`,
      );
      process.exitCode = EXIT_CODES.failed;
    }
  });
}

/** The nodes that the flags name, else all that are configured, or those of one network. Throws ConfigError. */
function nodesToLookAt(command: Command): ReadonlyArray<readonly [string, readonly string[]]> {
  const { network, upstream = [] } = command.opts<DoctorFlags>();
  const config = readConfig(command);
  if (network !== undefined || upstream.length > 0)
    return [[network ?? MAINNET, nodesOf(config, network ?? MAINNET, upstream)]];
  const all = [...networksOf(config)].map(
    ([name, configured]) => [name, configured.upstream.map(({ url }) => url)] as const,
  );
  return all.length > 0 ? all : [[MAINNET, nodesOf(config, MAINNET, [])]];
}
