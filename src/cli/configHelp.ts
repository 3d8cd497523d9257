import type { Command, Option as Flag, Help } from 'commander';

/** Options of the server that most operators set. `--help` shows these, and `--help-all` all. */
export const USUAL: readonly string[] = [
  'host',
  'port',
  'dataDir',
  'role',
  'workers',
  'apiToken',
  'upstream',
  'traceStore',
  'rules.store',
  'tls.cert',
  'tls.key',
  'http.trustedProxies',
  'ops.port',
  'console.enabled',
  'gateway.ratePerAddress',
  'dns.account',
  'dns.listen',
  'dns.servers',
  'dns.zones',
  'index.from',
];
const INDENT = '  ';
const WIDTH = 80;

interface ConfigHelp {
  /** Notes on each flag: variable, default and allowed values. */
  readonly notes: ReadonlyMap<Flag, string>;
  readonly examples: string;
}

/** Adds `--help-all`, which shows every option with its notes, and examples at the end of the help. */
export function addConfigHelp(command: Command, { notes, examples }: ConfigHelp): Command {
  return command
    .option('--help-all', 'show all options, with their variables, defaults and allowed values')
    .on('option:help-all', () => {
      for (const flag of notes.keys()) flag.hideHelp(false);
      command.configureHelp({
        optionDescription: (flag) => [flag.description, notes.get(flag) ?? ''].filter(Boolean).join('\n'),
        formatItem: formatBlock,
      });
      command.help();
    })
    .addHelpText('after', `\n${examples}`);
}

/** Formats an item of the help: its term, and its description below. */
function formatBlock(...[term, , description, helper]: Parameters<Help['formatItem']>): string {
  const indent = INDENT.repeat(3);
  const text = helper.boxWrap(description, (helper.helpWidth ?? WIDTH) - indent.length);
  return [INDENT + term, ...text.split('\n').map((line) => indent + line)].join('\n');
}
