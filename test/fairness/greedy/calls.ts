import { rulesPath } from '../../rules/support/samples.ts';
import { GATEWAY_PATH, hexBlock, RULES_BASE, rpcCall } from '../target.ts';
import { Connections, keepAsking, requestBytes } from './connections.ts';
import { type Greedy, type GreedyContext, type StartGreedy, sized } from './greedy.ts';

interface Load {
  readonly connections: number;
  /** Requests in flight on a connection. */
  readonly ahead: number;
  readonly request: () => Buffer;
}

const rpcBytes = (context: GreedyContext, method: string, params: readonly unknown[]): Buffer =>
  requestBytes(context, GATEWAY_PATH, { body: rpcCall(method, params) });

/** Sends requests on several connections as fast as they are answered. */
function load(context: GreedyContext, { connections: number, ahead, request }: Load): Greedy {
  let count = 0;
  const connections = new Connections(context, {
    count: sized(context, number),
    opened: (socket) => keepAsking(socket, { ahead, request, answered: () => count++ }),
  });
  return {
    get count() {
      return count;
    },
    stop: () => connections.stop(),
  };
}

/** Pipelines many small calls. */
export const pipelining: StartGreedy = (context) => {
  const { random, target } = context;
  const request = random.chance(0.5)
    ? rpcBytes(context, 'eth_chainId', [])
    : rpcBytes(context, 'eth_getBlockByNumber', [hexBlock(target.chain.largeBlock), false]);
  return load(context, {
    connections: random.between(8, 100),
    ahead: random.between(16, 128),
    request: () => request,
  });
};

/** Sends calls that are rejected, and connects again when the server closes the connection. */
export const rejectedCalls: StartGreedy = (context) => {
  const { random } = context;
  const body = random.pick([
    rpcCall('admin_peers', ['x'.repeat(2_000)]),
    rpcCall('eth_getBlockByNumber', []),
    [],
  ]);
  const request = requestBytes(context, GATEWAY_PATH, { body });
  return load(context, {
    connections: random.between(16, 128),
    ahead: random.between(1, 64),
    request: () => request,
  });
};

/** Sends calls that a node must answer, each different, so that no response is cached. */
export const relayedCalls: StartGreedy = (context) => {
  const { random, target } = context;
  const { head } = target.chain;
  const method = random.pick(['eth_call', 'eth_getLogs', 'eth_getBalance', 'eth_getBlockByNumber']);
  const params = (): unknown[] => {
    const address = random.hex(20);
    if (method === 'eth_call') return [{ to: address, data: random.hex(1_000) }, 'latest'];
    if (method === 'eth_getBalance') return [address, 'latest'];
    if (method === 'eth_getBlockByNumber') return [hexBlock(random.below(head)), true];
    const fromBlock = random.between(0, Math.max(0, head - 800));
    return [{ fromBlock: hexBlock(fromBlock), toBlock: hexBlock(Math.min(head, fromBlock + 799)), address }];
  };
  return load(context, {
    connections: random.between(8, 200),
    ahead: 1,
    request: () => rpcBytes(context, method, params()),
  });
};

/** Requests traces of old blocks, so that the server fetches and indexes them. */
export const oldBlocks: StartGreedy = (context) => {
  const { random, target } = context;
  const { firstIndexed } = target.chain;
  const request = (): Buffer => {
    const fromBlock = random.below(firstIndexed);
    const toBlock = Math.min(firstIndexed - 1, fromBlock + random.below(800));
    return rpcBytes(context, 'trace_filter', [{ fromBlock, toBlock, count: 1 }]);
  };
  return load(context, { connections: random.between(1, 64), ahead: 1, request });
};

/** Creates filters with many topics, and never polls them. */
export const filters: StartGreedy = (context) => {
  const { random } = context;
  const topics = random.pick([1, 100, 1_000]);
  const request = (): Buffer =>
    rpcBytes(context, 'eth_newFilter', [{ topics: [Array.from({ length: topics }, () => random.hex(32))] }]);
  return load(context, { connections: random.between(1, 16), ahead: 1, request });
};

/** Floods the rules API: lists, changes, or requests with a wrong token. */
export const rulesFlood: StartGreedy = (context) => {
  const { random, target } = context;
  const path = RULES_BASE + rulesPath('tenant');
  const headers = [`authorization: Bearer ${target.tenantToken}`];
  const rule = {
    scope: 'datacenter',
    mode: 'enabled',
    rate_sensitivity: 'low',
    burst_sensitivity: 'low',
    profile_sensitivity: 'low',
  };
  let created = 0;
  const request = random.pick([
    () => requestBytes(context, path, { headers }),
    () => requestBytes(context, path, { body: { ...rule, name: `tenant-${created++}` }, headers }),
    () => requestBytes(context, path, { body: { name: 1 }, headers }),
    () => requestBytes(context, path, { headers: ['authorization: Bearer fg_wrong'] }),
  ]);
  return load(context, { connections: random.between(8, 100), ahead: random.between(1, 16), request });
};

/** Creates tokens with a token of a tenant. */
export const tokenFlood: StartGreedy = (context) => {
  const { random, target } = context;
  const headers = [`authorization: Bearer ${target.tenantToken}`];
  const body = { label: 'tenant', accounts: ['tenant'], permissions: ['dns_protection:read'] };
  const request = requestBytes(context, `${RULES_BASE}/user/tokens`, { body, headers });
  return load(context, {
    connections: random.between(1, 32),
    ahead: random.between(1, 8),
    request: () => request,
  });
};
