import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { until } from '../../support/until.ts';
import type { Target } from './dnsClient.ts';

export const TOKEN = 'fg_test_token_of_the_dns_tests_000000000';
export const ACCOUNT = 'acme';

export interface Program {
  readonly dataDir: string;
  readonly url: string;
  readonly dns: Target;
  /** A request to the rules API of the account; the parsed body. */
  api(method: string, path?: string, body?: unknown): Promise<{ status: number; json: Envelope }>;
  metrics(): Promise<string>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Envelope {
  readonly success: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readonly result: any;
  readonly errors: readonly { code: number; message: string }[];
}

/** Runs `floodgate start` with a guard in front of the server, as configured by further flags; resolves when it knows its zones. */
export async function startProgram(dataDir: string, server: Target, ...flags: string[]): Promise<Program> {
  const fixed = [
    '--rules-only',
    '--port',
    '0',
    '--data-dir',
    dataDir,
    '--api-token',
    TOKEN,
    '--dns-account',
    ACCOUNT,
  ];
  const dnsFlags = ['--dns-listen', '127.0.0.1:0', '--dns-servers', `${server.host}:${server.port}`];
  const child = spawnGuarded(process.execPath, [PROGRAM, 'start', ...fixed, ...dnsFlags, ...flags]);
  const exited = once(child, 'exit');
  let output = '';
  const found = await new Promise<{ url: string; port: number }>((resolve, reject) => {
    let port = 0;
    const read = (line: string): void => {
      output += `${line}\n`;
      port = Number(/"dns":\["127\.0\.0\.1:(\d+)"\]/.exec(line)?.[1] ?? port);
      const url = /"url":"(http:[^"]+)"/.exec(line)?.[1];
      if (url !== undefined) resolve({ url, port });
    };
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read);
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}: ${output}`)));
  });
  // The names of the zones are read behind: a test begins when they are known.
  await until('the names of the zones are known', async () => {
    const { checks } = (await (await fetch(`${found.url}/readyz`)).json()) as { checks: { dns: string } };
    return !checks.dns.includes('names not known');
  });
  const rules = `${found.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`;
  return {
    dataDir,
    url: found.url,
    dns: { host: '127.0.0.1', port: found.port },
    async api(method, path = '', body) {
      const response = await fetch(`${rules}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: (await response.json()) as Envelope };
    },
    metrics: async () => (await fetch(`${found.url}/metrics`)).text(),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await exited;
    },
  };
}
