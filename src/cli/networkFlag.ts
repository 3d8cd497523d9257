import { Option as Flag, InvalidArgumentError } from 'commander';
import { isNetworkName, MAINNET } from '../config/index.ts';

/** `--network`: which network's index a command is about. */
export const networkFlag = (): Flag =>
  new Flag('--network <name>', 'network, as the configuration file names it')
    .default(MAINNET)
    .argParser((value) => {
      if (isNetworkName(value)) return value;
      throw new InvalidArgumentError('It must be a name of 1 to 32 of a-z, 0-9 and -.');
    });
