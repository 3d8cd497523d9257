import type { Logger } from 'pino';
import type { UpgradeObserver } from '../ethereum/store/lmdb/traces/index.ts';

/** Progress is logged this often. */
const PROGRESS_INTERVAL_MS = 5_000;

/** Tells the log how the upgrade of a network's index goes. */
export function upgradeReport(logger: Logger, network: string): UpgradeObserver {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    progressed({ from, cursor }) {
      if (performance.now() - toldAtMs < PROGRESS_INTERVAL_MS) return;
      toldAtMs = performance.now();
      logger.info(
        { network, fromFormat: from, block: cursor },
        'upgrading the index, which is read meanwhile',
      );
    },
    ended: () => logger.info({ network }, 'the index is upgraded'),
    failed: (error) =>
      logger.error(
        { network, err: error },
        'the index cannot be upgraded now: the next start goes on with it',
      ),
  };
}
