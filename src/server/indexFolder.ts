import { join } from 'node:path';
import { MAINNET } from '../config/index.ts';

/** Where the index of a network is kept. The first network's folder has no name of its own: there was a time before others. */
export const indexFolder = (dataDir: string, network: string): string =>
  join(dataDir, network === MAINNET ? 'traces' : `traces-${network}`);
