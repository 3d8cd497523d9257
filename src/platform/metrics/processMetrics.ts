/** The metrics of the process: processor time, memory, garbage collection, descriptors. */
import { readdir, stat } from 'node:fs';
import { promisify } from 'node:util';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

const DESCRIPTORS = '/proc/self/fd';
const OPEN_DESCRIPTORS = 'process_open_fds';
/**
 * Metrics of prom-client that list every open descriptor, socket and timer. With 20,000 descriptors, they block the
 * event loop for 60 ms whenever metrics are read.
 */
const SLOW = [
  OPEN_DESCRIPTORS,
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
];

export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of SLOW) registry.removeSingleMetric(name);
  if (process.platform !== 'linux') return;
  new Gauge({
    name: OPEN_DESCRIPTORS,
    help: 'Number of open file descriptors.',
    registers: [registry],
    async collect() {
      // Without /proc, the metric has no value.
      await openDescriptors().then(
        (count) => this.set(count),
        () => undefined,
      );
    },
  });
}

/** Returns the number of open descriptors of this process on Linux. `sizeOf` returns the size of a folder. */
export async function openDescriptors(sizeOf = folderSize): Promise<number> {
  // Since Linux 6.2, the size of this folder is the number of descriptors; before, it is 0.
  return (await sizeOf(DESCRIPTORS)) || (await promisify(readdir)(DESCRIPTORS)).length;
}

const folderSize = async (folder: string): Promise<number> => (await promisify(stat)(folder)).size;
