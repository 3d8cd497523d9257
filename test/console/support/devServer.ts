import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cleanEnvironment } from '../../support/cleanEnvironment.ts';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';

export interface DevServer {
  readonly url: string;
  /** The printed sign-in link. */
  readonly link: string;
  readonly token: string;
  readonly account: string;
  readonly dns: { readonly host: string; readonly port: number };
  /** Suspends the process until `thaw`; its connections stay open. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

const printedIn = (text: string, pattern: RegExp): string => {
  const [, value] = pattern.exec(text) ?? [];
  if (value === undefined) throw new Error(`floodgate dev did not print ${pattern}:\n${text}`);
  return value;
};

/** Starts `floodgate dev` with rules and guard but without a chain, on a fixed port, so that it can be restarted. */
export async function startDevServer(
  dataDir: string,
  port: number,
  { program = PROGRAM, flags = [] }: { readonly program?: string; readonly flags?: readonly string[] } = {},
): Promise<DevServer> {
  const args = [
    'dev',
    '--role',
    'rules,guard',
    '--port',
    String(port),
    '--data-dir',
    dataDir,
    '--dns-listen',
    '127.0.0.1:0',
    '--log-level',
    'warn',
    ...flags,
  ];
  const child = spawnGuarded(process.execPath, [program, ...args], { env: cleanEnvironment() });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = once(child, 'exit');
  let welcome = '';
  for await (const line of createInterface({ input: child.stdout })) {
    welcome += `${line}\n`;
    if (line.startsWith('Press Ctrl-C to stop')) break;
  }
  child.stdout.resume();
  if (welcome === '') throw new Error(`floodgate dev did not start:\n${log}`);
  const [, host = '', dnsPort = ''] = /DNS +(\S+) port (\d+)/.exec(welcome) ?? [];
  return {
    url: printedIn(welcome, /Rules API +(\S+)\/client\/v4/),
    link: printedIn(welcome, /Console +(\S+)/),
    token: printedIn(welcome, /API token +(\S+)/),
    account: printedIn(welcome, /Account +(\S+)/),
    dns: { host, port: Number(dnsPort) },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
