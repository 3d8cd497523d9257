import { PooledSource } from '../../ethereum/ingest/index.ts';
import { type IndexTraceLimits, NodeError, NodePool } from '../../ethereum/nodes/index.ts';
import type { ChainIdentity } from '../../ethereum/traces/index.ts';
import { IndexingError } from '../jobs/withIndex.ts';

/** Interval of polls. They only check the health of nodes, because a command reads the chain's head only once. */
const POLL_INTERVAL_MS = 5_000;

export interface NodesOptions {
  readonly upstream: readonly string[];
  readonly traceLimits: IndexTraceLimits;
  /** Chain ID and genesis hash of the index; undefined if the index is empty. */
  readonly chain: ChainIdentity | undefined;
  /** Reports that a request failed at one node and is sent to another. */
  readonly trouble: (message: string) => void;
}

/**
 * Opens several nodes as one source of blocks, for a command that runs without a server, and returns the result of
 * `work`. Rejects with IndexingError if no node can be used.
 */
export async function withNodes<T>(
  { upstream, traceLimits, chain, trouble }: NodesOptions,
  work: (source: PooledSource) => Promise<T>,
): Promise<T> {
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
      nodes: upstream.map((url) => ({ url })),
      pollIntervalMs: POLL_INTERVAL_MS,
      chain,
      traceLimits,
    },
    { observer },
  );
  try {
    await pool.start();
    return await work(
      new PooledSource(pool, { onFailover: (_, what, { message }) => trouble(`${what}: ${message}`) }),
    );
  } catch (error) {
    throw error instanceof NodeError ? new IndexingError(`no usable node: ${error.message}`) : error;
  } finally {
    await pool.stop();
  }
}
