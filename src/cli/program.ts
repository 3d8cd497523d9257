import { readFileSync } from 'node:fs';
import { Command } from 'commander';

type Register = (program: Command) => void;

type Load = () => Promise<Register>;

/** Commands by heading and in the order of the help. Each loads only its own modules, which halves the time of a short command. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Server:': {
    start: async () => (await import('./commands/start.ts')).registerStart,
    dev: async () => (await import('./commands/dev.ts')).registerDev,
    status: async () => (await import('./commands/status.ts')).registerStatus,
    config: async () => (await import('./commands/config.ts')).registerConfig,
    alerts: async () => (await import('./commands/alerts.ts')).registerAlerts,
  },
  'DNS protection:': {
    rules: async () => (await import('./commands/rules/rules.ts')).registerRules,
    zones: async () => (await import('./commands/zones.ts')).registerZones,
    dns: async () => (await import('./commands/dns/dns.ts')).registerDns,
    fleet: async () => (await import('./commands/fleet.ts')).registerFleet,
  },
  'Ethereum nodes and traces:': {
    doctor: async () => (await import('./commands/doctor.ts')).registerDoctor,
    nodes: async () => (await import('./commands/nodes.ts')).registerNodes,
    index: async () => (await import('./commands/indexBlocks.ts')).registerIndex,
    import: async () => (await import('./commands/importFiles.ts')).registerImport,
    export: async () => (await import('./commands/exportTraces.ts')).registerExport,
  },
  'Access:': {
    login: async () => (await import('./commands/access/login.ts')).registerLogin,
    logout: async () => (await import('./commands/access/login.ts')).registerLogout,
    console: async () => (await import('./commands/access/console.ts')).registerConsole,
    token: async () => (await import('./commands/access/token.ts')).registerToken,
    key: async () => (await import('./commands/access/key.ts')).registerKey,
    audit: async () => (await import('./commands/audit.ts')).registerAudit,
  },
  'Data:': {
    backup: async () => (await import('./commands/dataCopies.ts')).registerBackup,
    restore: async () => (await import('./commands/dataCopies.ts')).registerRestore,
    verify: async () => (await import('./commands/dataCopies.ts')).registerVerify,
    store: async () => (await import('./commands/store.ts')).registerStore,
  },
  'Other:': {
    completion: async () => {
      const { registerCompletion } = await import('./commands/completion.ts');
      return (program) => registerCompletion(program, programFor);
    },
  },
};

/**
 * Returns the program for the first word of a command line. If the word is a command, the program has only this
 * command. For `--version`, it has no commands. For help, an unknown word or no word, it has all commands.
 */
export async function programFor(word?: string): Promise<Command> {
  const program = emptyProgram();
  if (word === '--version' || word === '-V') return program;
  const isCommand = Object.values(GROUPS).some((commands) => Object.hasOwn(commands, word ?? ''));
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(commands))
      if (!isCommand || name === word) (await load())(program);
  }
  return program.helpCommand('help [command]', 'show the help of a command');
}

function emptyProgram(): Command {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return new Command('floodgate')
    .description(
      'Protects servers from floods: DNS servers by protection rules with a REST API, Ethereum nodes by a JSON-RPC ' +
        'gateway that answers trace_filter from its own index.',
    )
    .version(version)
    .showHelpAfterError('Use --help for the list of commands and options.')
    .exitOverride()
    .addHelpText(
      'after',
      '\nEvery option can be set in floodgate.yaml, in an environment variable or on the\n' +
        'command line, which has priority. `floodgate COMMAND --help` shows the options of\n' +
        'a command, `floodgate start --help-all` all options of the server.',
    );
}
