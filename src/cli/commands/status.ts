import { type Command, Option } from 'commander';
import { fetchFailureReason } from '../../rules/client/index.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { UsageError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { type DnsStatus, type NetworkStatus, type ServerStatus, statusOf } from '../serverStatus.ts';
import { printable } from './rules/rulesTable.ts';

const DEFAULT_URL = 'http://127.0.0.1:8420';
const TIMEOUT_MS = 5_000;
/** Maximum size of a response. Enough for the metrics of hundreds of nodes and rules. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** `floodgate status`: shows a running server on one screen, without a token. The exit code reports readiness. */
export function registerStatus(program: Command): void {
  program
    .command('status')
    .description('show readiness and status of a running server; needs no token')
    .addOption(new Option('--url <url>', 'URL of the server').env('FLOODGATE_URL').default(DEFAULT_URL))
    .option('--json', 'print a JSON object')
    .action(async ({ url, json }: { url: string; json?: boolean }) => {
      if (!URL.canParse(url)) throw new UsageError(`--url is not a URL; use one such as ${DEFAULT_URL}`);
      // FLOODGATE_URL may contain the path of the rules API, so only its origin is used.
      const { origin } = new URL(url);
      const status = await ask(origin).catch((error: unknown) => reasonOf(error));
      if (typeof status === 'string') {
        process.stderr.write(
          `floodgate: no status from ${origin}: ${status}. Use --url for another server\n`,
        );
        process.exitCode = EXIT_CODES.unavailable;
        return;
      }
      await print(json ? JSON.stringify({ url: origin, ...status }) : screen(origin, status));
      process.exitCode = status.ready ? EXIT_CODES.done : EXIT_CODES.failed;
    });
}

async function ask(origin: string): Promise<ServerStatus> {
  const [readiness, metrics] = await Promise.all([get(`${origin}/readyz`), get(`${origin}/metrics`)]);
  const { status, roles = [], checks } = JSON.parse(readiness.text) as Readonly<Record<string, unknown>>;
  if (typeof status !== 'string' || !isTexts(checks) || !isTexts(roles))
    throw new Error('the server is not Floodgate');
  return statusOf(
    { ready: readiness.status === 200, roles: Object.values(roles), checks },
    metrics.status === 200 ? metrics.text : '',
  );
}

async function get(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its response has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.status, text: Buffer.concat(chunks).toString('utf8') };
}

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');

const reasonOf = (error: unknown): string =>
  error instanceof SyntaxError ? 'the server is not Floodgate' : fetchFailureReason(error);

function screen(origin: string, { ready, roles, checks, startedAt, networks, dns }: ServerStatus): string {
  const since = startedAt === null ? '' : `, up since ${startedAt.slice(0, 19)}Z`;
  const parts = Object.entries(checks).map(([name, check]) => row(name, check));
  return [
    `Floodgate at ${origin}: ${ready ? 'ready' : 'NOT READY'}${since}`,
    ...(roles.length === 0 ? [] : [row('roles', roles.join(', '))]),
    ...parts,
    ...networks.map((network) => row(network.network, networkLine(network))),
    ...(dns === null ? [] : [row('DNS', dnsLine(dns)), row('', queriesLine(dns))]),
  ].join('\n');
}

const row = (name: string, text: string): string => `  ${printable(name).padEnd(12)}${printable(text)}`;

function networkLine({ nodes, nodesUp, indexHead, lagBlocks }: NetworkStatus): string {
  const index = indexHead === null || indexHead < 0 ? 'no block indexed yet' : `index at block ${indexHead}`;
  const lag = lagBlocks === null ? '' : `, ${lagBlocks} blocks behind its nodes`;
  return `${nodesUp} of ${nodes} nodes up, ${index}${lag}`;
}

function dnsLine({
  serversUp,
  serversHealthy,
  dnsdistNodes,
  dnsdistInForce,
  knownNames,
  ready,
  attackedZones,
}: DnsStatus): string {
  const behind =
    dnsdistNodes > 0
      ? `rules in force at ${dnsdistInForce} of ${dnsdistNodes} dnsdist nodes`
      : `servers up: ${serversUp ?? 0}`;
  const attack =
    attackedZones === 0
      ? 'no attack'
      : `ATTACK on ${attackedZones} ${attackedZones === 1 ? 'zone' : 'zones'}`;
  const health = serversHealthy ? '' : ', SERVERS OVERLOADED OR DOWN';
  return `${attack}, ${behind}${health}, ${knownNames} names known${ready ? '' : ' (learning: the rule drops nothing yet)'}`;
}

function queriesLine({ queries }: DnsStatus): string {
  const counts = Object.entries(queries).map(
    ([outcome, count]) => `${outcome.replaceAll('_', ' ')} ${count}`,
  );
  return counts.length === 0 ? 'no query yet' : `queries: ${counts.join(', ')}`;
}
