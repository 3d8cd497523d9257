import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { type Config, ConfigError, networksOf } from '../../config/index.ts';
import { AccessLog, LineFile } from '../../platform/accessLog/index.ts';
import type { ClientAddress } from '../../platform/addresses/index.ts';
import type { TrackedResponse } from '../../platform/http/index.ts';

export interface OpenAccessLogDependencies {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly clientAddress: ClientAddress;
}

export interface OpenAccessLog {
  readonly handled: (response: TrackedResponse) => void;
  close(): Promise<void>;
}

/** Opens the access log; undefined if none is configured. Rejects with ConfigError if its file cannot be opened. */
export async function openAccessLog(
  config: Config,
  { logger, registry, clientAddress }: OpenAccessLogDependencies,
): Promise<OpenAccessLog | undefined> {
  const { accessFile: path, accessFormat: format } = config.log;
  if (path === undefined) return undefined;
  const file = await LineFile.open({ path }, logger).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`log.accessFile cannot be written: ${reason}`);
  });
  new Counter({
    name: 'floodgate_access_log_lines_dropped_total',
    help: 'Access log lines dropped because the disk was full, slow or unavailable.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(file.dropped);
    },
  });
  const knownNames = new Set(networksOf(config).keys());
  const log = new AccessLog({ format, knownNames }, { file, clientAddress });
  return { handled: (response) => log.handled(response), close: () => file.close() };
}
