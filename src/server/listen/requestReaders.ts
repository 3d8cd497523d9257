import { type Config, ConfigError } from '../../config/index.ts';
import { clientAddressReader, httpsReader } from '../../platform/addresses/index.ts';
import type { ServerContext } from '../base.ts';

export function requestReadersOf({
  http: { trustedProxies },
}: Config): Pick<ServerContext, 'clientAddress' | 'isHttps'> {
  try {
    return { clientAddress: clientAddressReader(trustedProxies), isHttps: httpsReader(trustedProxies) };
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
