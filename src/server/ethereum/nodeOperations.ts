import type { Logger } from 'pino';
import type { UpstreamNode } from '../../ethereum/nodes/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import type { OperatorRoute } from '../../rules/api/index.ts';
import type { Ethereum } from './ethereum.ts';

/** Returns the routes by which operators list, drain and resume nodes. */
export function nodeOperations(networks: Ethereum['networks'], logger: Logger): OperatorRoute[] {
  const find = ({ network = '', node = '' }: Readonly<Record<string, string>>) => {
    const pool = networks.get(network)?.pool;
    const found = pool?.nodes.find(({ name }) => name === node);
    return pool && found && { pool, node: found, network };
  };
  const reported = (network: string, node: UpstreamNode, tokenId: string): void =>
    logger.warn(
      { network, node: node.name, health: node.health, token: tokenId },
      'operator drained or resumed an upstream',
    );
  return [
    {
      method: 'GET',
      path: '/nodes',
      permission: 'nodes:read',
      handle: () => ({
        result: [...networks].flatMap(([network, { pool }]) => pool.nodes.map((node) => view(network, node))),
      }),
    },
    {
      method: 'POST',
      path: '/nodes/:network/:node/drain',
      permission: 'nodes:write',
      handle(params, tokenId) {
        const found = find(params);
        if (found === undefined) return undefined;
        const { pool, node, network } = found;
        if (!pool.drain(node)) return `no other node of ${network} is healthy: the node stays in rotation`;
        reported(network, node, tokenId);
        return { result: view(network, node) };
      },
    },
    {
      method: 'POST',
      path: '/nodes/:network/:node/resume',
      permission: 'nodes:write',
      handle(params, tokenId) {
        const found = find(params);
        if (found === undefined) return undefined;
        const { pool, node, network } = found;
        inBackground('poll of a node', () => pool.resume(node));
        reported(network, node, tokenId);
        return { result: view(network, node) };
      },
    },
  ];
}

const view = (network: string, { name, client, health, heads, inFlight }: UpstreamNode): object => ({
  network,
  node: name,
  host: client.host,
  health,
  head_block: heads?.latest.number ?? null,
  in_flight: inFlight,
});
