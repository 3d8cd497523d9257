import { type Config, checkNodes } from '../config/index.ts';
import { checkDnsOptions } from './dns/dnsOptions.ts';
import { requestReadersOf } from './listen/requestReaders.ts';
import { openedPartsOf } from './roles.ts';
import { workersOf } from './workers/workerConfig.ts';

/**
 * Checks options that contradict each other, as the start of a server does. Opens no file and no socket. Throws
 * ConfigError.
 */
export function checkConfig(config: Config): void {
  const opened = openedPartsOf(config);
  checkNodes(config);
  requestReadersOf(config);
  workersOf(config, opened);
  if (config.dns.account !== undefined && opened.has('guard')) checkDnsOptions(config);
}
