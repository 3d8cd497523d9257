import { type OnFailover, PooledSource } from '../../ethereum/ingest/index.ts';
import { type IndexTraceLimits, NodePool } from '../../ethereum/nodes/index.ts';
import type { ChainIdentity } from '../../ethereum/traces/index.ts';

/** Interval of polls. They only check the health of nodes, because a command reads the chain's head only once. */
const POLL_INTERVAL_MS = 5_000;

/** Several nodes as one source of blocks, for a command that runs without a server. */
export interface OpenNodes {
  readonly source: PooledSource;
  close(): Promise<void>;
}

interface OpenNodesOptions {
  /** Chain ID and genesis hash of the index; undefined if the index is empty. */
  readonly chain: ChainIdentity | undefined;
  readonly traceLimits: IndexTraceLimits;
}

export async function openNodes(
  urls: readonly string[],
  { chain, traceLimits }: OpenNodesOptions,
  failedOver: OnFailover,
): Promise<OpenNodes> {
  const ignored = (): void => undefined;
  const observer = {
    answered: ignored,
    failed: ignored,
    sentInvalidResponse: ignored,
    hedged: ignored,
    healthChanged: ignored,
    traceMethodFound: ignored,
    inexactGas: ignored,
    headWentBack: ignored,
  };
  const pool = new NodePool(
    {
      nodes: urls.map((url) => ({ url })),
      pollIntervalMs: POLL_INTERVAL_MS,
      chain,
      traceLimits,
    },
    { observer },
  );
  await pool.start();
  return { source: new PooledSource(pool, { onFailover: failedOver }), close: () => pool.stop() };
}
