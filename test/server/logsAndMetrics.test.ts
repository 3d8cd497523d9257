import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/freePort.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

const page = ['metrics', 'logs']
  .map((name) => readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8'))
  .join('\n');
/** Returns the cells of the table rows between two markers of the page, without the header. */
const rowsOf = (marker: string): string[][] =>
  (page.split(`<!-- ${marker} -->`)[1]?.split(`<!-- ${marker}: end -->`)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const bare = (cell = ''): string => cell.replaceAll('`', '');

/** An address without a listener. The set of metrics does not depend on whether nodes and DNS servers answer. */
const NOBODY = '127.0.0.1:9';

describe('docs/reference/metrics.md and logs.md', () => {
  const servers: Floodgate[] = [];
  let text = '';

  beforeAll(async () => {
    const key = Buffer.alloc(32, 1).toString('base64');
    const start = (config: Readonly<Record<string, unknown>>): Promise<Floodgate> =>
      startFloodgate({ config, whenListening: true, tuning: { alertHoldMs: 0 } });
    servers.push(
      ...(await Promise.all([
        start({
          upstream: [`http://${NOBODY}`],
          traceStore: `clickhouse://${NOBODY}/floodgate`,
          dns: { account: 'a', listen: ['127.0.0.1:0'], servers: [NOBODY] },
          log: { accessFile: '/dev/null' },
          spans: { endpoint: `http://${NOBODY}/v1/traces` },
          // Nothing is sent, because the address is private.
          alerts: { webhooks: [`http://${NOBODY}`] },
        }),
        start({
          role: 'rules,guard',
          dns: {
            account: 'a',
            dnsdistConsoles: [NOBODY],
            dnsdistKey: key,
            dnstapListen: `127.0.0.1:${await freePort()}`,
          },
        }),
      ])),
    );
    const pages = servers.map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
    text = (await Promise.all(pages)).join('\n');
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  it('lists exactly the metrics of a server, with their types', () => {
    const served = [...text.matchAll(/^# TYPE (floodgate_\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const listed = rowsOf('metrics').map(([name, type]) => `${bare(name)} ${type}`);
    expect(listed.toSorted()).toEqual([...new Set(served)].toSorted());
  });

  it('lists every label of every metric', () => {
    const labels = new Map(
      rowsOf('metrics').map(([name, , listed]) => [bare(name), bare(listed).split(', ').toSorted()]),
    );
    for (const [, name = '', pairs = ''] of text.matchAll(/^(floodgate_\w+)\{(.*)\} /gm)) {
      const metric = labels.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '');
      const seen = [...pairs.matchAll(/(\w+)="/g)]
        .map(([, label]) => label)
        .filter((label) => label !== 'le');
      expect(seen.toSorted(), name).toEqual(labels.get(metric));
    }
  });

  it('lists exactly the messages that the code logs', () => {
    const listed = rowsOf('log').map(([, message = '']) => message.replace(/ ?….*$/, ''));
    const code = sources();
    const unlisted = [...logged(code)].filter(
      (message) => !listed.some((known) => message.startsWith(known)),
    );
    const notLogged = listed.filter((message) => !code.includes(message));
    expect({ unlisted, notLogged }).toEqual({ unlisted: [], notLogged: [] });
  });
});

function sources(): string {
  const root = fileURLToPath(new URL('../../src/', import.meta.url));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(root + file, 'utf8'))
    .join('\n');
}

/** Yields the message literals in calls of a logger. Does not find messages in named constants. */
function* logged(code: string): Generator<string> {
  for (const call of code.matchAll(/\b(?:log|logger)\.(?:debug|info|warn|error|fatal)\(/g)) {
    const start = call.index + call[0].length;
    let end = start;
    for (let depth = 1; depth > 0; end++) {
      if ('([{'.includes(code[end] ?? '')) depth++;
      if (')]}'.includes(code[end] ?? ')')) depth--;
    }
    // String literals of fields are single words. Messages contain a space, except for three of them.
    for (const [, , message = ''] of code.slice(start, end - 1).matchAll(/(['`])(.*?)\1/g))
      if (/ |^(?:listening|stopped|indexed)$/.test(message)) yield message;
  }
}
