import { startFloodgateProcess, TOKEN } from '../../support/startFloodgate.ts';
import { until } from '../../support/until.ts';
import type { Target } from './dnsClient.ts';

export { TOKEN };
export const ACCOUNT = 'acme';

export interface Program {
  readonly dataDir: string;
  readonly url: string;
  readonly dns: Target;
  /** Sends a request to the rules API of the account, and returns the parsed body. */
  api(method: string, path?: string, body?: unknown): Promise<{ status: number; json: Envelope }>;
  metrics(): Promise<string>;
  /** Returns the log so far. */
  output(): string;
  stop(): Promise<unknown>;
  /** Ends the program with SIGKILL. */
  kill(): Promise<void>;
}

export interface Envelope {
  readonly success: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
  readonly result: any;
  readonly errors: readonly { code: number; message: string }[];
}

/**
 * Starts a server with a guard in front of the DNS server, with additional flags; resolves when its zones are seeded.
 */
export async function startProgram(dataDir: string, server: Target, ...flags: string[]): Promise<Program> {
  const args = ['--dns-account', ACCOUNT, '--dns-listen', '127.0.0.1:0'];
  args.push('--dns-servers', `${server.host}:${server.port}`, ...flags);
  const { url, dnsPort, output, stop, kill } = await startFloodgateProcess({ dataDir, args });
  // Zones are read after the start, so tests must wait for them.
  await until('the zones to be seeded', async () => {
    const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: { dns: string } };
    return !checks.dns.includes('names not known');
  });
  const rules = `${url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`;
  return {
    dataDir,
    url,
    dns: { host: '127.0.0.1', port: dnsPort },
    async api(method, path = '', body) {
      const response = await fetch(`${rules}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: (await response.json()) as Envelope };
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    output,
    stop,
    kill,
  };
}
