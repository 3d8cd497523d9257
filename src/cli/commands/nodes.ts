import { type Command, Option } from 'commander';
import { Transport } from '../../rules/client/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { readToken, TOKEN_FILE_VARIABLE } from './clientToken.ts';
import { formatTable } from './rulesTable.ts';

const DEFAULT_URL = 'http://127.0.0.1:8420';

interface NodeView {
  readonly network: string;
  readonly node: string;
  readonly host: string;
  readonly health: string;
  readonly head_block: number | null;
  readonly in_flight: number;
}

/** `floodgate nodes`: the Ethereum nodes of a running server. What is set aside is back at the next start. */
export function registerNodes(program: Command): void {
  const group = program.command('nodes').description('the Ethereum nodes of a running server');
  addFlags(group.command('list').description('list the nodes with their health'))
    .option('--json', 'print a JSON object a line')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const nodes = await send(command, 'GET', '/nodes');
      if (json === true) for (const node of nodes) await print(JSON.stringify(node));
      else
        await print(
          formatTable(['network', 'node', 'host', 'health', 'head', 'in flight'], nodes.map(rowOf)),
        );
    });
  for (const [name, description] of [
    ['drain', 'set a node aside: it is asked nothing more, and finishes what it was asked'],
    ['resume', 'put a node back'],
  ] as const)
    addFlags(group.command(name).description(description))
      .argument('<node>', 'as `floodgate nodes list` names it')
      .option('--network <name>', 'its network', 'mainnet')
      .action(async (node: string, { network }: { network: string }, command: Command) => {
        const path = `/nodes/${encodeURIComponent(network)}/${encodeURIComponent(node)}/${name}`;
        const [view] = await send(command, 'POST', path);
        if (view !== undefined) await print(`${view.network} ${view.node} (${view.host}): ${view.health}`);
      });
}

function addFlags(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'URL of the server').env('FLOODGATE_URL').default(DEFAULT_URL))
    .addOption(
      new Option(
        '--token-file <file>',
        'file with the API token, in place of the variable FLOODGATE_TOKEN',
      ).env(TOKEN_FILE_VARIABLE),
    );
}

async function send(command: Command, method: 'GET' | 'POST', path: string): Promise<NodeView[]> {
  const { url, tokenFile } = command.opts<{ url: string; tokenFile?: string }>();
  // The variable may name the rules API, which is of the same server.
  if (!URL.canParse(url)) throw new OperatorError(`--url is no URL; write one such as ${DEFAULT_URL}`);
  const answer = await new Transport({
    baseUrl: `${new URL(url).origin}/operations`,
    token: readToken(tokenFile),
  }).send(method, path);
  const { envelope } = answer;
  if (typeof envelope === 'object' && envelope !== null && 'result' in envelope)
    return [envelope.result].flat() as NodeView[]; // what this server's version answers
  throw new OperatorError('The answer is not what Floodgate gives; check the URL');
}

const rowOf = ({ network, node, host, health, head_block, in_flight }: NodeView): string[] => [
  ...[network, node, host, health],
  ...[head_block === null ? '' : String(head_block), String(in_flight)],
];
