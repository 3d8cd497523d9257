// The rooms of `src`: what each is for, and which others it may use. A room is a folder with a door, its index.ts.
// `npm test` holds the imports to this (.dependency-cruiser.js) and docs/architecture.md shows it (`npm run docs`).

/**
 * Every room, those that use others first. A pure one does no I/O.
 *
 * @type {ReadonlyArray<{ readonly room: string, readonly purpose: string, readonly pure?: true, readonly uses: readonly string[] }>}
 */
export const rooms = [
  {
    room: 'cli',
    purpose: 'commands: read flags, call a room, print',
    uses: [
      'config',
      'server',
      'devchain',
      'rules',
      'rules/client',
      'rules/plan',
      'rules/store/lmdb',
      'dns/analytics',
      'dns/attacks',
      'dns/authority',
      'dns/dataplane/dnsdist',
      'dns/detector',
      'dns/replay',
      'dns/zones',
      'ethereum/gateway',
      'ethereum/store/lmdb/gateway',
      'ethereum/traces',
      'platform/addresses',
    ],
  },
  {
    room: 'server',
    purpose: 'the composition root: the only room that knows all that run, and wires them',
    uses: [
      'config',
      'rules',
      'rules/api',
      'rules/store/lmdb',
      'dns/analytics',
      'dns/attacks',
      'dns/controller',
      'dns/dataplane',
      'dns/dataplane/dnsdist',
      'dns/dataplane/embedded',
      'dns/detector',
      'dns/protocol',
      'dns/store/lmdb',
      'dns/zones',
      'ethereum/gateway',
      'ethereum/ingest',
      'ethereum/nodes',
      'ethereum/store/lmdb/gateway',
      'ethereum/store/lmdb/traces',
      'ethereum/traces',
      'platform/addresses',
      'platform/http',
      'platform/logging',
      'platform/metrics',
      'platform/storeFile',
    ],
  },
  { room: 'config', purpose: 'one schema for file, variables and flags', uses: [] },
  {
    room: 'devchain',
    purpose: 'the development chain: anvil as a child, and its traffic',
    uses: ['ethereum/traces', 'platform/serialQueue'],
  },
  {
    room: 'library/traces',
    purpose: 'what other programs import as `floodgate/traces`',
    pure: true,
    uses: ['ethereum/traces', 'ethereum/traces/convert'],
  },

  {
    room: 'rules/api',
    purpose: 'the REST interface of the rules',
    uses: ['rules', 'platform/http'],
  },
  {
    room: 'rules/plan',
    purpose: 'rules as code: a file, and what it would change',
    uses: ['rules', 'rules/client'],
  },
  { room: 'rules/client', purpose: 'a client of the rules API', uses: ['rules'] },
  {
    room: 'rules/store/lmdb',
    purpose: 'rules, tokens and audit on LMDB',
    uses: ['rules', 'platform/storeFile'],
  },
  {
    room: 'rules',
    purpose:
      'what a protection rule is, which applies where, and the ports RuleStore, AccessListStore, TokenStore and AuditLog',
    pure: true,
    uses: ['platform/addresses'],
  },

  {
    room: 'dns/controller',
    purpose: 'the life cycle of the guard: rule in force, zones, minutes, persistence; drives a data plane',
    uses: [
      'dns/analytics',
      'dns/attacks',
      'dns/dataplane',
      'dns/detector',
      'dns/zones',
      'platform/logging',
      'platform/metrics',
      'platform/serialQueue',
      'rules',
    ],
  },
  {
    room: 'dns/dataplane/embedded',
    purpose: 'data plane: a UDP and TCP proxy in this process',
    uses: [
      'dns/dataplane',
      'dns/detector',
      'dns/protocol',
      'platform/addresses',
      'platform/logging',
      'platform/metrics',
    ],
  },
  {
    room: 'dns/dataplane/dnsdist',
    purpose: 'data plane: drives PowerDNS dnsdist',
    uses: [
      'dns/dataplane',
      'dns/detector',
      'dns/protocol',
      'platform/addresses',
      'platform/logging',
      'platform/serialQueue',
      'rules',
    ],
  },
  {
    room: 'dns/dataplane',
    purpose: 'the port DataPlane: what carries DNS as the detector decides',
    uses: ['dns/detector', 'platform/addresses', 'platform/logging'],
  },
  {
    room: 'dns/authority',
    purpose: 'a small authoritative server, for the first run',
    uses: ['dns/protocol', 'dns/zones'],
  },
  {
    room: 'dns/zones',
    purpose: 'the names of configured zones, from files and transfers',
    uses: ['dns/detector', 'dns/protocol', 'platform/addresses', 'platform/logging'],
  },
  {
    room: 'dns/replay',
    purpose: 'what a rule would have done with recorded traffic',
    uses: ['dns/detector', 'dns/protocol'],
  },
  {
    room: 'dns/store/lmdb',
    purpose: 'what the guard learned and counted, on LMDB',
    uses: ['dns/analytics', 'dns/attacks', 'dns/detector', 'platform/storeFile'],
  },
  {
    room: 'dns/analytics',
    purpose: 'what the guard saw, minute by minute',
    pure: true,
    uses: ['dns/detector', 'dns/protocol'],
  },
  {
    room: 'dns/attacks',
    purpose: 'attacks as they are told of: beginning, end, size, who is refused and for what',
    pure: true,
    uses: ['dns/detector', 'dns/protocol', 'platform/addresses'],
  },
  {
    room: 'dns/detector',
    purpose: 'the decision: profile, thresholds, token bucket, attack detection. Pure',
    pure: true,
    uses: ['dns/protocol', 'platform/addresses', 'rules'],
  },
  { room: 'dns/protocol', purpose: 'DNS messages as the hot path reads them', pure: true, uses: [] },

  {
    room: 'ethereum/gateway',
    purpose: 'HTTP in front: admission, keys, the table of methods, relay, cache',
    uses: [
      'ethereum/ingest',
      'ethereum/jsonrpc',
      'ethereum/nodes',
      'ethereum/traces',
      'platform/addresses',
      'platform/http',
      'platform/logging',
      'platform/metrics',
    ],
  },
  {
    room: 'ethereum/ingest',
    purpose: 'following a chain, filling ranges, reorganisations',
    uses: ['ethereum/nodes', 'ethereum/traces', 'platform/serialQueue'],
  },
  {
    room: 'ethereum/nodes',
    purpose: 'one client, one health and one head of each node, and the checks that find a lying one out',
    uses: ['ethereum/jsonrpc', 'ethereum/traces', 'ethereum/traces/convert', 'platform/serialQueue'],
  },
  {
    room: 'ethereum/store/lmdb/gateway',
    purpose: 'final answers and API keys on LMDB',
    uses: ['ethereum/gateway', 'platform/serialQueue', 'platform/storeFile'],
  },
  {
    room: 'ethereum/store/lmdb/traces',
    purpose: 'the trace store on LMDB',
    uses: ['ethereum/traces', 'platform/serialQueue', 'platform/storeFile'],
  },
  {
    room: 'ethereum/traces/convert',
    purpose: 'whatever a node answers, as traces; pure',
    pure: true,
    uses: ['ethereum/traces'],
  },
  {
    room: 'ethereum/traces',
    purpose: 'what a trace is, what a filter matches, the index, and the port TraceStore',
    pure: true,
    uses: [],
  },
  {
    room: 'ethereum/jsonrpc',
    purpose: 'JSON-RPC 2.0 itself: parse, batch, errors. Knows no method',
    pure: true,
    uses: [],
  },

  {
    room: 'platform/http',
    purpose: 'the listener and its limits, WebSockets, health, metrics, what is not sent yet',
    uses: ['platform/addresses'],
  },
  {
    room: 'platform/serialQueue',
    purpose: 'one task after the other, for what must not run beside itself',
    pure: true,
    uses: [],
  },
  {
    room: 'platform/storeFile',
    purpose: 'the file of a store: whether it is its own, of a known format, and whole',
    uses: [],
  },
  { room: 'platform/metrics', purpose: 'metrics that cost little on a hot path', uses: [] },
  { room: 'platform/logging', purpose: 'what rooms that log need of a logger', pure: true, uses: [] },
  { room: 'platform/addresses', purpose: 'addresses, networks, and who is one client', uses: [] },
];
