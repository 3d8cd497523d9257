import { describe, expect, it } from 'vitest';
import { ConfigError } from './configError.ts';
import { loadConfig } from './load.ts';

const FILE = 'floodgate.yaml';

interface Sources {
  readonly file?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string | readonly string[]>>;
}

const load = ({ file, environment = {}, flags = {} }: Sources) =>
  loadConfig({ ...(file !== undefined && { file: { name: FILE, text: file } }), environment, flags });

const TOKENS = ['token-of-the-file', 'token-of-the-variable', 'token-of-the-flag'] as const;

/** Names that scripts rely on, each with values for the file, the variable and the flag. */
const FIXED = [
  ['host', 'FLOODGATE_HOST', ['127.0.0.2', '127.0.0.3', '127.0.0.4']],
  ['port', 'FLOODGATE_PORT', ['1001', '1002', '1003']],
  ['dataDir', 'FLOODGATE_DATA_DIR', ['a', 'b', 'c']],
  ['upstream', 'FLOODGATE_UPSTREAM', ['http://a:1', 'http://b:1', 'https://c:1']],
  ['apiToken', 'FLOODGATE_API_TOKEN', TOKENS],
] as const;

describe('the configuration', () => {
  it.each(FIXED)(
    '%s is set by the file, overridden by %s, and that by the flag',
    (path, variable, [one, two, three]) => {
      const file = `${path}: ${path === 'upstream' ? `[${one}]` : one}`;
      const environment = { [variable]: two };
      const flags = { [path]: path === 'upstream' ? [three] : three };
      const shown = (sources: Sources): string => String(load(sources)[path]);
      expect(shown({ file })).toBe(one);
      expect(shown({ file, environment })).toBe(two);
      expect(shown({ environment, flags })).toBe(three);
      expect(shown({ file, environment, flags })).toBe(three);
    },
  );

  it('uses the defaults of the schema and ignores empty variables', () => {
    const config = load({ environment: { FLOODGATE_PORT: '' } });
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8420, dataDir: 'floodgate-data', upstream: [] });
  });

  it('accepts an empty file, comments and groups of options', () => {
    expect(load({ file: '' }).port).toBe(8420);
    expect(load({ file: '# nothing yet\n' }).port).toBe(8420);
    expect(load({ file: 'log:\n  level: debug\n' }).log.level).toBe('debug');
  });

  it('splits a list in a variable at commas', () => {
    const environment = { FLOODGATE_UPSTREAM: 'http://a:1, http://b:2' };
    expect(load({ environment }).upstream).toEqual(['http://a:1', 'http://b:2']);
  });

  it('accepts a comma within an item on the command line', () => {
    const flags = { 'dns.zones': ['a.test=a,b.zone', 'b.test=c.zone'], upstream: ['http://a/1,2'] };
    expect(load({ flags })).toMatchObject({ dns: { zones: flags['dns.zones'] }, upstream: flags.upstream });
  });

  const REFUSED: readonly (readonly [what: string, sources: Sources, names: readonly string[]])[] = [
    [
      'a region that no rule can name',
      { file: 'dns:\n  region: Zürich\n' },
      ['dns.region in floodgate.yaml is "Zürich"', '1 to 64 visible ASCII characters without spaces'],
    ],
    [
      'a datacenter with a blank',
      { environment: { FLOODGATE_DNS_DATACENTER: 'new york' } },
      ['FLOODGATE_DNS_DATACENTER is "new york"', '1 to 64 visible ASCII characters without spaces'],
    ],
    [
      'a port that is too large',
      { environment: { FLOODGATE_PORT: '65536' } },
      ['FLOODGATE_PORT', '65536', '65535'],
    ],
    ['a port that is not a number', { flags: { port: 'http' } }, ['--port', '"http"', 'whole number']],
    ['a fraction', { flags: { port: '80.5' } }, ['--port', '80.5']],
    ['an exponent', { flags: { port: '1e3' } }, ['--port', '1e3']],
    ['a text in the file for a number', { file: 'port: "8420"' }, ['port', FILE, '"8420"', '65535']],
    [
      'an unknown level',
      { flags: { 'log.level': 'verbose' } },
      ['--log-level', 'verbose', '"debug"', '"silent"'],
    ],
    [
      'an upstream that is not a URL',
      { flags: { upstream: ['localhost:8545'] } },
      ['--upstream', 'localhost', 'http://'],
    ],
    [
      'two zones joined by a comma on the command line',
      { flags: { 'dns.zones': ['c.test=c.zone', 'a.test=a.zone, b.test=b.zone'] } },
      [
        '--dns-zones, item 2, is "a.test=a.zone, b.test=b.zone", with a comma between items',
        'allowed: items separated by blanks, or one item in each --dns-zones',
      ],
    ],
    [
      'a comma after a zone on the command line',
      { flags: { 'dns.zones': ['a.test=a.zone,', 'b.test=b.zone'] } },
      ['--dns-zones, item 1, is "a.test=a.zone,", with a comma between items'],
    ],
    [
      'two origins joined by a comma on the command line',
      { flags: { 'gateway.corsOrigins': ['https://a.test,https://b.test'] } },
      ['--gateway-cors-origins, item 1, is "https://a.test,https://b.test", with a comma between items'],
    ],
    [
      'two keys joined by a comma on the command line, without the keys',
      { flags: { 'dns.tsigKeys': ['hmac-sha256:a:c2Vj,hmac-sha256:b:c2Vj'] } },
      ['--dns-tsig-keys, item 1, is (not shown), with a comma between items'],
    ],
    [
      'one bad upstream of two',
      { environment: { FLOODGATE_UPSTREAM: 'http://a,b' } },
      ['FLOODGATE_UPSTREAM', '"b"'],
    ],
    [
      'a wrong item in a long list',
      { file: `dns:\n  zones: [${'a.test=/etc/a.zone, '.repeat(50)}b.test]` },
      [`dns.zones in ${FILE}, item 51, is "b.test"; allowed: a list`],
    ],
    [
      'a wrong URL of a network, without the URL',
      { file: 'networks: { main: { upstream: ["http://a", "http:/secret"] } }' },
      [`networks in ${FILE}, main / upstream / 1, is (not shown)`],
    ],
    [
      'an unknown member of a network',
      { file: 'networks: { main: { upstreams: ["http://a"] } }' },
      [`networks in ${FILE}, main / upstreams, is (not shown)`],
    ],
    ['a single text for a list in the file', { file: 'upstream: http://a' }, ['upstream', FILE, 'a list']],
    [
      'yes for a boolean',
      { environment: { FLOODGATE_CONSOLE_ENABLED: 'yes' } },
      ['FLOODGATE_CONSOLE_ENABLED', 'yes', 'true, false'],
    ],
    ['an empty data folder', { flags: { dataDir: '' } }, ['--data-dir', 'not empty']],
    [
      'an unknown option in the file',
      { file: 'prot: 1' },
      ['prot', FILE, 'unknown option; the most similar option is port;', 'allowed: host, port, ', ', dns'],
    ],
    [
      'an unknown option in a group',
      { file: 'log:\n  levle: info' },
      ['log.levle', 'is log.level; allowed: log.level'],
    ],
    [
      'thresholds of single zones, which zone policies replace',
      { file: 'dns:\n  thresholds:\n    zones: [example.com=rate:500]' },
      ['dns.thresholds.zones', FILE, 'unknown option'],
    ],
    ['an option named __proto__', { file: '__proto__:\n  port: 1' }, ['__proto__', 'unknown option']],
    ['a value for a group', { file: 'log: info' }, ['log', FILE, 'below it']],
    ['a list as the file', { file: '- port: 1' }, [FILE, 'port: 8420']],
    ['a file that is not YAML', { file: 'port: [' }, [FILE, 'not valid YAML']],
    ['deep nesting', { file: `port: ${'['.repeat(5000)}` }, [FILE, 'allowed: at most 64 levels']],
    ['an unknown tag', { file: 'port: !secret 8420' }, [FILE, 'Unresolved tag']],
    ['a duplicate option', { file: 'port: 1\nport: 2' }, [FILE, 'not valid YAML']],
  ];

  it.each(REFUSED)('rejects %s', (_what, sources, names) => {
    expect(() => load(sources)).toThrow(ConfigError);
    for (const name of names) expect(() => load(sources)).toThrow(name);
  });

  it('never shows a secret, even if it is invalid', () => {
    const secret = 'short';
    for (const sources of [
      { file: `apiToken: ${secret}` },
      { environment: { FLOODGATE_API_TOKEN: secret } },
      { flags: { apiToken: secret } },
    ]) {
      const message = refusal(sources);
      expect(message).toContain('16 to 256');
      expect(message).not.toContain(secret);
    }
  });

  it('shows only host and port of an invalid URL', () => {
    for (const wrong of ['ftp://ops:hidden@b', 'b/hidden', 'b?key=hidden'])
      expect(refusal({ flags: { upstream: ['http://a:1', wrong] } })).toContain(
        '--upstream, item 2, is "(not shown)"; allowed:',
      );
    expect(refusal({ flags: { upstream: ['http://a:1', 'b:1'] } })).toContain('item 2, is "b:1"');
  });
});

function refusal(sources: Sources): string {
  try {
    load(sources);
  } catch (error) {
    return String(error);
  }
  throw new Error('it was not refused');
}
