import { leaseFrom, RateLimits, type Rates } from '../../ethereum/gateway/index.ts';
import { leaseFromNode } from '../../ethereum/nodes/index.ts';
import type { EthereumNetwork } from '../ethereum/ethereumNetwork.ts';
import type { SharedCalls } from './workerProcess.ts';

/** A client quota without a limit. Response memory is counted in the worker that sends the response, not here. */
const ROOM = { charge: () => true, credit: () => undefined, freeConnection: () => undefined };

/** Returns the calls of the first process that do not depend on the worker that makes them. */
export function primaryCalls(
  networkOf: (name: string) => EthereumNetwork,
): Omit<SharedCalls, 'accepted' | 'consoleAccess'> {
  const rates: Rates = new RateLimits();
  return {
    newest: () => undefined,
    async poll({ network, node }) {
      const { pool } = networkOf(network);
      const polled = pool.nodes[node];
      if (polled !== undefined) await pool.refresh(polled);
    },
    found: ({ network, node, why }) => networkOf(network).reportNodeFault(node, why),
    ensure: ({ network, fromBlock, toBlock, client }) =>
      networkOf(network).ensure(fromBlock, toBlock, client),
    take: (wanted) => leaseFrom(rates, wanted),
    takeOfNode({ network, node, ...wanted }) {
      const budget = networkOf(network).pool.nodes[node]?.client.budget;
      if (budget === undefined) throw new Error(`there is no node ${node} of ${network} with a budget`);
      return leaseFromNode(budget, wanted);
    },
    async filter({ network, method, params, address, ...who }) {
      const served = networkOf(network).methods.find(({ name }) => name === method);
      if (served === undefined) throw new Error(`method ${method} is not served`);
      const context = { mayStream: false, room: ROOM, address: () => address, ...who };
      return (await served.handle(params, context)) as Uint8Array; // bytes, as `mayStream` is false
    },
  };
}
