import type { Command } from 'commander';
import { MAINNET, networksOf, nodesOf } from '../../config/index.ts';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { print } from '../output/print.ts';

interface DoctorFlags {
  readonly json?: boolean;
  readonly network?: string;
  readonly upstream?: readonly string[];
}

/** `floodgate doctor`: examines each node. Exits with 0 if traces can be indexed from all of them. */
export function registerDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'check nodes: client, trace support, history depth, known inaccuracies. Default: all configured nodes',
    )
    .option('--json', 'print one JSON object per line')
    .option('--network <name>', 'only nodes of this network, by its name in the configuration file');
  addOwnConfigFlags(command, ['upstream']).action(async () => {
    const { examineNode } = await import('../../server/index.ts');
    const { json } = command.opts<DoctorFlags>();
    for (const [network, urls] of nodesToLookAt(command)) {
      const chains = new Map<string, string>();
      for (const url of urls) {
        const { node, lines, isUsable, chain } = await examineNode(url);
        const verdict = `${node}: ${isUsable ? 'can be indexed from' : 'cannot be indexed from'}`;
        const reported = [verdict, ...lines.map((line) => `  ${line}`)].join('\n');
        await print(json ? JSON.stringify({ network, node, usable: isUsable, remarks: lines }) : reported);
        if (!isUsable) process.exitCode = EXIT_CODES.failed;
        if (chain !== undefined) chains.set(node, chain);
      }
      if (new Set(chains.values()).size <= 1) continue;
      // With --json, standard output contains only JSON, so this message is written to standard error.
      const tell = json ? (text: string) => process.stderr.write(`${text}\n`) : print;
      await tell(
        `The nodes of ${network} are on different chains, so the server would not start: ` +
          `${[...chains].map(([node, chain]) => `${node} is on ${chain}`).join('; ')}. Use nodes of one chain per network`,
      );
      process.exitCode = EXIT_CODES.failed;
    }
  });
}

/** Returns the nodes from the flags, otherwise the configured nodes of one network or of all. Throws ConfigError. */
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
