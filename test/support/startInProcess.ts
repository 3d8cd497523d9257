import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type ConfigSources, loadConfig } from '../../src/config/index.ts';
import { startServer } from '../../src/server/index.ts';
import { until } from './until.ts';

/**
 * Starts a whole server in the test process, on a free port and with a temporary folder, with parts that the compiled
 * program has no option for. Resolves when it is ready.
 */
export async function startInProcess(
  flags: ConfigSources['flags'],
  parts: Parameters<typeof startServer>[1],
): Promise<{ readonly gatewayUrl: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-test-'));
  const config = loadConfig({ environment: {}, flags: { port: '0', dataDir, ...flags } });
  const server = await startServer({ config, logger: pino({ level: 'silent' }) }, parts);
  await until('the server to be ready', () => server.readiness().ready);
  return {
    gatewayUrl: `${server.url}/v1/mainnet`,
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
