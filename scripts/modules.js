// The modules of `src`. A module is a folder with an entry point, its index.ts. `npm run imports` checks every import against
// this list (.dependency-cruiser.js), and docs/internals/architecture.md shows it (`npm run docs`).

/**
 * Path, purpose, and whether the module is pure (does no I/O). A module imports only modules further down this list.
 */
const LIST = [
  ['cli', 'commands: read flags, call a module, print'],
  ['server', 'the composition root: opens, connects and closes all parts that run'],
  ['config', 'one schema for file, variables and flags'],
  ['devchain', 'the development chain: anvil as a child process, and its traffic'],
  ['exports/client', '`floodgate/client` for other programs and web pages', true],
  ['exports/traces', '`floodgate/traces` for other programs', true],

  ['dns/controller', 'life cycle of the guard: rule in force, zones, persistence; drives a data plane'],
  ['dns/dataplane/embedded', 'data plane: a UDP and TCP proxy in this process'],
  ['dns/dataplane/embedded/threads', 'the number of threads that receive DNS, and their start'],
  ['dns/dataplane/dnsdist', 'data plane: drives PowerDNS dnsdist'],
  ['dns/dataplane', 'the port DataPlane: carries DNS as the detector decides'],
  ['dns/authority', 'a small authoritative server for the first run'],
  ['dns/zones', 'names of the configured zones, from files and transfers'],
  ['dns/replay', 'the effect of a rule on recorded traffic'],
  ['dns/store/lmdb', 'learned profiles and counts of the guard in LMDB'],
  ['dns/store/postgres', 'reports and counts of guards that share a PostgreSQL'],
  ['dns/fleet', 'reports and counts of several guards, and the port FleetStore'],
  ['dns/profileFile', 'a learned profile as a file, for another machine', true],
  ['dns/analytics', 'queries of each minute, region and data center', true],
  ['dns/attacks', 'attacks as events: start, end, size, limited clients and reasons', true],
  ['dns/detector', 'the decision: profile, thresholds, token bucket, attack detection', true],
  ['dns/protocol', 'DNS messages, parsed on the hot path', true],

  ['rules/api', 'the REST API of the rules'],
  ['rules/plan', 'rules as code: compares a rules file with the server, and applies it'],
  ['rules/client', 'a client of the rules API'],
  ['rules/store', 'opens the configured store of rules, and loads no other engine'],
  [
    'rules/store/postgres',
    'rules, zone policies, tokens, API keys and audit in PostgreSQL, shared by instances',
  ],
  ['rules/store/lmdb', 'rules, zone policies, tokens and audit in LMDB'],
  ['rules', 'rules and zone policies, which rule applies, and the ports of their stores', true],

  ['ethereum/store/lmdb/gateway', 'final answers and API keys in LMDB'],
  ['ethereum/gateway', 'JSON-RPC over HTTP: admission, keys, the table of methods, relay, cache'],
  ['ethereum/ingest', 'follows a chain, fills ranges, handles reorganisations'],
  ['ethereum/import', 'reads blocks and their traces from files of Floodgate, cryo and ethereum-etl'],
  ['ethereum/nodes', 'client, health and head of each node, and checks for wrong answers'],
  ['ethereum/store/lmdb/traces', 'the trace store in LMDB'],
  ['ethereum/store/shared', 'final blocks in ClickHouse, shared by servers, joined with newer local blocks'],
  ['ethereum/traces/convert', 'converts answers of nodes into traces', true],
  ['ethereum/traces', 'traces, filters, the index, and the port TraceStore', true],
  ['ethereum/jsonrpc', 'JSON-RPC 2.0: parsing, batches, errors; no methods', true],

  ['platform/alerts', 'signed alerts by HTTP, retried until they are delivered'],
  ['platform/accessLog', 'a log line for each HTTP request, without secrets'],
  ['platform/spans', 'spans of requests, and their export (OTLP)'],
  ['platform/http', 'the listener and its limits, WebSockets, health, metrics, unsent bytes'],
  ['platform/storeFile', 'the LMDB file of a store: identity, format, integrity, opening'],
  ['platform/nesting', 'bounds the nesting of parsed values: YAML, and the depth of JSON', true],
  ['platform/exit', 'ends the process between commits'],
  ['platform/lastUses', 'when tokens and keys were last used: in memory, written periodically', true],
  ['platform/background', 'work that no caller awaits: errors are logged', true],
  ['platform/scheduler', 'the processor time of the process, divided among clients', true],
  ['platform/contentCoding', 'content codings: negotiation, compression, bounded decompression'],
  ['platform/budgets', 'a resource with a limit per client and in total', true],
  ['platform/page', 'pages for browsers: their security headers, and the page to try an API'],
  ['platform/serialQueue', 'runs tasks one after another', true],
  ['platform/postgres', 'connection options of PostgreSQL'],
  ['platform/metrics', 'metrics that are cheap on a hot path'],
  ['platform/linkedList', 'keeps values in order, and nothing of removed ones', true],
  ['platform/logging', 'the logger interface', true],
  ['platform/httpClient', 'HTTP connections to nodes, and from workers to the first process'],
  ['platform/sockets', 'closes connections with a reset'],
  ['platform/addresses', 'IP addresses, networks, and client identity'],
  ['platform/regularFile', 'opens regular files only: no links, pipes and devices; creates folders'],
];

/** @type {ReadonlyArray<{ readonly path: string, readonly purpose: string, readonly isPure: boolean }>} */
export const modules = LIST.map(([path, purpose, isPure = false]) => ({ path, purpose, isPure }));

/**
 * The part of the program that a module belongs to. Each part imports itself and `platform`; `dns` may also import
 * `rules`.
 */
const partOf = (path) => /^(dns|rules|ethereum|platform)(?=\/|$)/.exec(path)?.[0] ?? 'program';

/** @type {(path: string) => string[]} returns the modules that a module may import through their entry points */
export function importsOf(path) {
  const part = partOf(path);
  const below = modules.slice(modules.findIndex((other) => other.path === path) + 1);
  return below
    .map((other) => other.path)
    .filter(
      (other) =>
        part === 'program' ||
        [part, 'platform'].includes(partOf(other)) ||
        (part === 'dns' && other === 'rules'),
    );
}

/** The table in docs/internals/architecture.md. */
export const modulesTable = () =>
  [
    '| module of `src` | purpose | pure |',
    '| --- | --- | --- |',
    ...modules.map(({ path, purpose, isPure }) => `| \`${path}\` | ${purpose} | ${isPure ? 'yes' : ''} |`),
  ].join('\n');
