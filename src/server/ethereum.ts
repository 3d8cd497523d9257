import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import { type Method, NodeClient, NodeSource, relayed, traceFilter } from '../gateway/index.ts';
import { openTraceStore } from '../storage/lmdb/traces/traceStore.ts';
import { Indexer } from '../traces/index.ts';
import { IngestReport } from './ingestReport.ts';

/** Behind the node by more blocks than this, the index is not ready. */
const MAX_READY_LAG_BLOCKS = 5;

/** The Ethereum half of the server: index, ingest and the methods that they and the node answer. */
export interface Ethereum {
  readonly methods: readonly Method[];
  /** What is missing for the index to be ready; undefined where nothing is. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

export function startEthereum(
  config: Config,
  upstreamUrl: string,
  logger: Logger,
  registry: Registry,
): Ethereum {
  const store = openTraceStore(join(config.dataDir, 'traces'));
  const node = new NodeClient(upstreamUrl);
  const observer = new IngestReport(logger, registry);
  const indexer = new Indexer({
    store,
    source: new NodeSource(node),
    pollIntervalMs: config.index.pollIntervalMs,
    observer,
    ...(config.index.from !== undefined && { fromBlock: config.index.from }),
  });
  observer.watch(indexer, registry);
  indexer.start();

  return {
    methods: [
      traceFilter({ store, indexer, maxAnswerBytes: config.gateway.maxAnswerBytes }),
      relayed(node, 'eth_blockNumber', 'The number of the latest block.'),
      relayed(node, 'eth_chainId', 'The id of the chain.'),
    ],
    notReady() {
      const { lagBlocks, failure } = indexer.status();
      if (lagBlocks === undefined)
        return `the node has not answered yet${failure === undefined ? '' : `: ${failure}`}`;
      if (lagBlocks > MAX_READY_LAG_BLOCKS) return `the index is ${lagBlocks} blocks behind the node`;
      return undefined;
    },
    async stop() {
      await indexer.stop();
      await node.close();
      await store.close();
    },
  };
}
