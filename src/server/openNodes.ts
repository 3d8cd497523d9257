import { type FailedOver, PooledSource } from '../ethereum/ingest/index.ts';
import { NodePool } from '../ethereum/nodes/index.ts';
import type { ChainIdentity } from '../ethereum/traces/index.ts';

/** A command fills a range up to a block that it asked for once: its nodes are polled for their health alone. */
const POLL_INTERVAL_MS = 5_000;

/** Several nodes as one source of blocks, for a command that runs by itself. */
export interface OpenNodes {
  readonly source: PooledSource;
  close(): Promise<void>;
}

/** `chain` is that of the index; undefined where it has none yet. */
export async function openNodes(
  urls: readonly string[],
  chain: ChainIdentity | undefined,
  failedOver: FailedOver,
): Promise<OpenNodes> {
  const ignored = (): void => undefined;
  const observer = {
    answered: ignored,
    failed: ignored,
    sentInvalidResponse: ignored,
    hedged: ignored,
    healthChanged: ignored,
    traceMethodFound: ignored,
    headWentBack: ignored,
  };
  const pool = new NodePool(
    { nodes: urls.map((url) => ({ url })), pollIntervalMs: POLL_INTERVAL_MS, chain },
    { observer },
  );
  await pool.start();
  return { source: new PooledSource(pool, failedOver), close: () => pool.stop() };
}
