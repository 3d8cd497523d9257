import type { Command } from 'commander';
import { ApiFailure, Transport } from '../../rules/client/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { accessOf, addServerFlags } from './rules/rulesConnection.ts';
import { formatTable } from './rules/rulesTable.ts';

interface NodeView {
  readonly network: string;
  readonly node: string;
  readonly host: string;
  readonly health: string;
  readonly head_block: number | null;
  readonly in_flight: number;
}

/** `floodgate nodes`: manages the nodes of a running server. After a restart, the server uses drained nodes again. */
export function registerNodes(program: Command): void {
  const group = program.command('nodes').description('manage the Ethereum nodes of a running server');
  addServerFlags(group.command('list').description('list the nodes with their health'))
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const nodes = await send(command, 'GET', '/nodes');
      if (json === true) for (const node of nodes) await print(JSON.stringify(node));
      else
        await print(
          formatTable(['network', 'node', 'host', 'health', 'head', 'in flight'], nodes.map(rowOf)),
        );
    });
  for (const [name, description] of [
    ['drain', 'stop sending requests to a node; running requests finish'],
    ['resume', 'send requests to a drained node again'],
  ] as const)
    addServerFlags(group.command(name).description(description))
      .argument('<node>', 'name from `floodgate nodes list`')
      .option('--network <name>', 'network of the node', 'mainnet')
      .action(async (node: string, { network }: { network: string }, command: Command) => {
        const path = `/nodes/${encodeURIComponent(network)}/${encodeURIComponent(node)}/${name}`;
        const [view] = await send(command, 'POST', path).catch((error: unknown) => {
          if (!(error instanceof ApiFailure && error.status === 404)) throw error;
          throw new OperatorError(
            `Network ${network} has no node ${node}; \`floodgate nodes list\` lists the nodes`,
          );
        });
        if (view !== undefined) await print(`${view.network} ${view.node} (${view.host}): ${view.health}`);
      });
}

async function send(command: Command, method: 'GET' | 'POST', path: string): Promise<NodeView[]> {
  const { url, token } = accessOf(command);
  // The URL has the path of the rules API, so only its origin is used.
  const answer = await new Transport({ baseUrl: `${new URL(url).origin}/operations`, token }).send(
    method,
    path,
  );
  const { envelope } = answer;
  if (typeof envelope === 'object' && envelope !== null && 'result' in envelope)
    return [envelope.result].flat() as NodeView[]; // the format of this server's version
  throw new OperatorError('The response is not from a Floodgate server; check the URL');
}

const rowOf = ({ network, node, host, health, head_block, in_flight }: NodeView): string[] => [
  network,
  node,
  host,
  health,
  head_block === null ? '' : String(head_block),
  String(in_flight),
];
