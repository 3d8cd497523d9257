import { join } from 'node:path';
import { MAINNET } from '../../config/index.ts';

/** Returns the folder of a network's index. Mainnet's has no suffix, because it is older than other networks. */
export const indexFolder = (dataDir: string, network: string): string =>
  join(dataDir, network === MAINNET ? 'traces' : `traces-${network}`);
