import { Option as Flag, InvalidArgumentError } from 'commander';
import { isNetworkName, MAINNET } from '../config/index.ts';

export const networkFlag = (): Flag =>
  new Flag('--network <name>', 'network name, from the configuration file')
    .default(MAINNET)
    .argParser((value) => {
      if (isNetworkName(value)) return value;
      throw new InvalidArgumentError('It must have 1 to 32 characters of a-z, 0-9 and -.');
    });
