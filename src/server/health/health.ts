/** Health of the server for operators: combines metrics and states into one object. */
import { basename } from 'node:path';
import type { UpstreamNode } from '../../ethereum/nodes/index.ts';
import type { Readiness } from '../../platform/http/index.ts';
import type { Dns } from '../dns/dns.ts';
import type { Ethereum } from '../ethereum/ethereum.ts';
import type { EthereumNetwork } from '../ethereum/ethereumNetwork.ts';
import { indexFolder } from '../jobs/indexFolder.ts';
import { VERSION } from '../version.ts';
import { type ReadMetrics, sumByLabels } from './metricSums.ts';
import { storeBytes } from './storeBytes.ts';

export interface HealthSources {
  readonly dataDir: string;
  readonly metrics: ReadMetrics;
  readonly readiness: () => Readiness;
  readonly ethereum: Ethereum | undefined;
  readonly dns: Dns | undefined;
  readonly roles: readonly string[];
}

/** Returns the health of the server as an object of the schema `Health` of the rules API. */
export async function healthOf({
  dataDir,
  metrics,
  readiness,
  ethereum,
  dns,
  roles,
}: HealthSources): Promise<object> {
  const { ready, checks } = readiness();
  const registry = await metrics();
  const bytes = storeBytes(dataDir);
  const cache = await sumByLabels(registry, 'floodgate_gateway_cache_total', ['network', 'result']);
  const [connections] = Object.values(await sumByLabels(registry, 'floodgate_http_connections', []));
  const [unsentBytes] = Object.values(await sumByLabels(registry, 'floodgate_http_unsent_bytes', []));
  const networks = [...(ethereum?.networks ?? [])].map(async ([name, network]) => {
    const headBlock = network.pool.knownHeads?.latest.number;
    const of = (result: string): number => cache[`${name} ${result}`] ?? 0;
    return {
      network: name,
      chain_id: network.pool.chainId ?? null,
      head_block: headBlock ?? null,
      nodes: network.pool.nodes.map((node) => viewOfNode(node, headBlock)),
      index: await viewOfIndex(network, bytes[basename(indexFolder(dataDir, name))] ?? 0),
      cache: { hits: of('hit'), coalesced: of('coalesced'), misses: of('miss') },
    };
  });
  return {
    ready,
    roles,
    checks,
    started_on: new Date(performance.timeOrigin).toISOString(),
    versions: { floodgate: VERSION, node: process.versions.node },
    memory: { rss_bytes: process.memoryUsage.rss() },
    networks: await Promise.all(networks),
    limited: await sumByLabels(registry, 'floodgate_gateway_limited_total', ['limit']),
    http: {
      connections: connections ?? 0,
      unsent_bytes: unsentBytes ?? 0,
      connections_closed: await sumByLabels(registry, 'floodgate_http_connections_closed_total', ['reason']),
    },
    stores: Object.entries(bytes).map(([store, size]) => ({ store, bytes: size })),
    ...(dns && { guard: { not_ready: dns.missing() ?? null, attacks: dns.attacks().length } }),
  };
}

function viewOfNode(node: UpstreamNode, headBlock: number | undefined): object {
  const { name, client, health, heads, inFlight, latencyMs, failures, lastFailure } = node;
  const nodeHead = heads?.latest.number;
  return {
    node: name,
    host: client.host,
    health,
    head_block: nodeHead ?? null,
    lag_blocks: nodeHead === undefined || headBlock === undefined ? null : Math.max(0, headBlock - nodeHead),
    latency_ms: Math.round(latencyMs * 10) / 10,
    in_flight: inFlight,
    failures,
    ...(lastFailure && {
      last_failure: { at: new Date(lastFailure.atMs).toISOString(), reason: lastFailure.reason },
    }),
  };
}

async function viewOfIndex(network: EthereumNetwork, bytes: number): Promise<object> {
  const { headBlock, lagBlocks, firstMissing, failure, blocksPerSecond } = await network.index();
  return {
    head_block: headBlock ?? null,
    lag_blocks: lagBlocks ?? null,
    first_missing_block: firstMissing ?? null,
    failure: failure ?? null,
    bytes,
    blocks_per_second: Math.round(blocksPerSecond * 1000) / 1000,
  };
}
