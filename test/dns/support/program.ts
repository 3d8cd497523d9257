import { startFloodgateProcess, TOKEN } from '../../support/startFloodgate.ts';
import { until } from '../../support/until.ts';
import type { Target } from './dnsClient.ts';

export { TOKEN };
export const ACCOUNT = 'acme';

export interface Program {
  readonly dataDir: string;
  readonly url: string;
  readonly dns: Target;
  /** A request to the rules API of the account; the parsed body. */
  api(method: string, path?: string, body?: unknown): Promise<{ status: number; json: Envelope }>;
  metrics(): Promise<string>;
  /** What it has logged. */
  output(): string;
  stop(): Promise<unknown>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

export interface Envelope {
  readonly success: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readonly result: any;
  readonly errors: readonly { code: number; message: string }[];
}

/** Starts a server with a guard in front of the DNS server, as configured by further flags; resolves when it knows its zones. */
export async function startProgram(dataDir: string, server: Target, ...flags: string[]): Promise<Program> {
  const args = ['--dns-account', ACCOUNT, '--dns-listen', '127.0.0.1:0'];
  args.push('--dns-servers', `${server.host}:${server.port}`, ...flags);
  const { url, dnsPort, output, stop, kill } = await startFloodgateProcess({ dataDir, args });
  // The names of the zones are read behind: a test begins when they are known.
  await until('the names of the zones are known', async () => {
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
