/** All options. The file format, variables, flags, validation, defaults and documentation are derived from them. */
import { type Static, type TProperties, Type } from 'typebox';

/** A group of options. Other members are errors. */
const group = <Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false });

/** Sampler names of OpenTelemetry. */
const SAMPLERS = ['always_on', 'traceidratio', 'parentbased_traceidratio'] as const;

/** docs/operate/scale.md lists the ports and stores of each role. */
export const ROLES = ['gateway', 'ingest', 'rules', 'guard'] as const;
const ROLE = `(${ROLES.join('|')})`;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const Log = group({
  level: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { default: 'info', description: 'Minimum level of logged lines.' },
  ),
  accessFile: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File to which one line per HTTP request is appended. It is created again after it was moved, for example by logrotate. Default: no access log.',
    }),
  ),
  accessFormat: Type.Union([Type.Literal('combined'), Type.Literal('json')], {
    default: 'combined',
    description:
      'Format of the access log. combined: the Combined Log Format of web servers. json: one JSON object per line, with the duration.',
  }),
});

const Http = group({
  maxConnections: Type.Optional(
    Type.Integer({
      minimum: 16,
      maximum: 1_000_000,
      unit: 'connections',
      description:
        'Maximum HTTP connections of all listeners, TLS handshakes included. One client address (for IPv6, one /64) may use half of the free ones, and always 4. The limit of open files may lower it. Default: 16384.',
    }),
  ),
  maxUnsentBytes: Type.Integer({
    minimum: 1024 * 1024,
    maximum: 64 * 1024 * 1024 * 1024,
    default: 80 * 1024 * 1024,
    unit: 'bytes',
    description:
      'Memory for responses that are in progress or not yet received by clients. One client (an address, for IPv6 a /64, or an API key) may use half, and at most as much as is free. Above half, the slowest clients are disconnected, those that use most first.',
  }),
  sendTimeoutMs: Type.Integer({
    minimum: 1000,
    maximum: 600_000,
    default: 30_000,
    unit: 'milliseconds',
    description: 'Time after which a client that receives nothing of its response is disconnected.',
  }),
  trustedProxies: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 100,
    description:
      'Addresses and networks (192.0.2.7, 10.0.0.0/8, fd00::/8) of trusted proxies. Their X-Forwarded-For is used as client address in limits and in the audit. Default: none.',
  }),
  allowedHosts: Type.Optional(
    Type.Array(Type.String({ pattern: '^(\\*|[A-Za-z0-9._-]{1,253})$' }), {
      maxItems: 100,
      allowed: 'a list of at most 100, each a host name without a port, or * for any',
      description:
        'Host names allowed in the Host header, in addition to localhost and IP addresses; other names are rejected with 421. Default: none on a loopback address, to prevent DNS rebinding by web pages, and any name elsewhere. A proxy on the same machine that forwards its own name must be listed.',
    }),
  ),
});

const Agreement = group({
  methods: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 100,
    description:
      'Methods that are sent to three nodes, or two if the network has no more. The answer is the one that most nodes return. Default: none.',
  }),
});

const Spans = group({
  endpoint: Type.Optional(
    Type.String({
      pattern: '^https?://',
      allowed: 'a URL that starts with http:// or https://',
      isAddress: true,
      standardVariable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      description:
        'URL to which spans are sent by OTLP over HTTP, as JSON, such as http://127.0.0.1:4318/v1/traces; used unchanged. Default: no tracing.',
    }),
  ),
  headers: Type.Array(Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}=[\\x21-\\x7e]{0,4096}$" }), {
    default: [],
    maxItems: 16,
    secret: true,
    standardVariable: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    allowed:
      'a list of at most 16 headers, each NAME=VALUE, with special characters of the value percent-encoded',
    description: 'Headers sent with spans, such as a key of the collector. Default: none.',
  }),
  sampler: Type.Union(
    SAMPLERS.map((sampler) => Type.Literal(sampler)),
    {
      default: 'traceidratio',
      standardVariable: 'OTEL_TRACES_SAMPLER',
      description:
        'Requests that are traced: all, a share of them, or those marked by the traceparent of the client and a share of requests without traceparent. Use parentbased_traceidratio only if the clients are your own.',
    },
  ),
  samplerArg: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    standardVariable: 'OTEL_TRACES_SAMPLER_ARG',
    description: 'Share of requests traced by samplers with a ratio: 0.01 is one in a hundred.',
  }),
});

const certificate = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

const Tls = group({
  cert: certificate(
    'File with the certificate chain (PEM). If set, HTTPS replaces HTTP, with TLS 1.2 or later. Reloaded when it changes.',
  ),
  key: certificate('File with the private key of the certificate (PEM, no passphrase).'),
});

const OpsTls = group({
  cert: certificate(
    'File with the certificate chain (PEM) of ops.port. If set, HTTPS replaces HTTP on ops.port. It may be the file of tls.cert. Reloaded when it changes.',
  ),
  key: certificate('File with the private key of the certificate of ops.port (PEM, no passphrase).'),
  clientCa: certificate(
    'File with CA certificates (PEM). Clients of ops.port need a certificate issued by one of these CAs, except for /healthz and /readyz. Reloaded when it changes, which closes all connections of ops.port. Default: clients need no certificate.',
  ),
});

const Ops = group({
  host: Type.Optional(Type.String({ minLength: 1, description: 'Address of ops.port. Default: 127.0.0.1.' })),
  port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description:
        'Port for operators: the rules API, the console, /operations, /metrics, /healthz and /readyz; host and port then serve only the gateway. 0 for any free port. Default, without ops.socket: everything on one port.',
    }),
  ),
  socket: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Path of a Unix socket that replaces ops.port. The user and the group of the server may connect (mode 0660).',
    }),
  ),
  tls: OpsTls,
});

const Alerts = group({
  webhooks: Type.Array(Type.String({ pattern: '^(slack\\+)?https?://' }), {
    default: [],
    maxItems: 8,
    secret: true,
    allowed:
      'a list of at most 8 different URLs that start with https:// or http://, or with slack+https:// or slack+http:// for the format of Slack',
    description:
      'URLs to which alerts are sent by HTTP POST: as JSON or, if the URL starts with slack+, as text for Slack, Mattermost and others. Default: none.',
  }),
  secret: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 256,
      pattern: '^[\\x21-\\x7e]+$',
      secret: true,
      description:
        'Key to sign alerts: X-Floodgate-Signature contains a time, and the HMAC-SHA-256 of time and body. Default: no signature.',
    }),
  ),
  allowPrivate: Type.Boolean({
    default: false,
    description:
      'Whether alerts may be sent to addresses outside the public Internet: private, loopback and link-local addresses.',
  }),
});

const WebSocket = group({
  maxConnections: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 10_000,
    unit: 'connections',
    description:
      'Maximum WebSockets that are open at the same time; further ones are rejected with 429. 0 disables WebSockets.',
  }),
  maxConnectionsPerAddress: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 100,
    unit: 'connections',
    description: 'Maximum WebSockets per client address. An API key may have ten times as many.',
  }),
  maxSubscriptionsPerAddress: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1_000,
    unit: 'subscriptions',
    description:
      'Maximum subscriptions per client address, on all of its WebSockets. An API key may have ten times as many.',
  }),
});

const DEBUG_TRACERS = ['callTracer', 'flatCallTracer', 'prestateTracer', '4byteTracer'] as const;
/** The maximum values are those of `MAX_LIMITS` in src/ethereum/gateway. An API key may have other limits. */
const CallLimits = group({
  traceFilterBlocks: Type.Integer({
    minimum: 1,
    maximum: 8_000,
    default: 800,
    unit: 'blocks',
    description:
      'Maximum blocks in the range of trace_filter, both ends counted. A filter that matches little in 8,000 busy blocks occupies a processor for half a second.',
  }),
  traceFilterCount: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 200,
    unit: 'traces',
    description: 'Maximum count of trace_filter, and maximum matches without count.',
  }),
  logsBlocks: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 800,
    unit: 'blocks',
    description: 'Maximum blocks in the range of eth_getLogs, both ends counted.',
  }),
  feeHistoryBlocks: Type.Integer({
    minimum: 1,
    maximum: 1_024,
    default: 10,
    unit: 'blocks',
    description: 'Maximum blocks of eth_feeHistory.',
  }),
});

const Gateway = group({
  corsOrigins: Type.Array(Type.String({ minLength: 1 }), {
    default: ['*'],
    maxItems: 100,
    description: 'Origins whose pages may call the gateway from a browser; * for any.',
  }),
  maxBodyBytes: Type.Integer({
    minimum: 1024,
    maximum: 64 * 1024 * 1024,
    default: 2 * 1024 * 1024,
    unit: 'bytes',
    description: 'Maximum body size of a request to the gateway.',
  }),
  maxAnswerBytes: Type.Integer({
    minimum: 1024,
    maximum: 1024 * 1024 * 1024,
    default: 64 * 1024 * 1024,
    unit: 'bytes',
    description: 'Maximum result size of one call; a larger result is an error and is never truncated.',
  }),
  methods: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 100,
    description:
      'Served methods, a subset of the methods in docs/reference/methods.md. Default: all of them.',
  }),
  extraMethods: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    default: [],
    maxItems: 100,
    description:
      'Additional methods that are relayed to nodes, with parameters and results unchecked, without caching and retries. Methods that would give control of a node, its keys or its chain are rejected. Default: none.',
  }),
  debugTracers: Type.Array(Type.Union(DEBUG_TRACERS.map((tracer) => Type.Literal(tracer))), {
    default: [],
    maxItems: DEBUG_TRACERS.length,
    description:
      'Native tracers that clients may use in debug_traceTransaction, debug_traceBlockByNumber, debug_traceBlockByHash and debug_traceCall (docs/operate/debug-tracers.md). Default: none; these methods are then not served.',
  }),
  maxInFlight: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 2048,
    unit: 'requests',
    description:
      'Maximum requests in flight, counted from the end of their body; further ones are rejected with 429. Each 64 KiB of a body count as one more request, up to 32. One client (an address; for IPv6, a /64) may use as many as it leaves free, and always 32.',
  }),
  ratePerAddress: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    unit: 'calls per second',
    description: 'Maximum calls per second from one client address; 0 for no limit.',
  }),
  instances: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 1,
    unit: 'gateways',
    description:
      'Number of gateways behind a load balancer that is not sticky. Each gateway applies an equal part of the limits per client address and API key, at least 1: rates, WebSocket connections, subscriptions.',
  }),
  keysGraceMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30 * 24 * 3_600_000,
      unit: 'milliseconds',
      description:
        'Time for which known API keys stay valid while the database of rules.store is away. Default: no limit.',
    }),
  ),
  requestTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 30_000,
    unit: 'milliseconds',
    description: 'Timeout of a relayed call, for all attempts together.',
  }),
  nodeWaitMs: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 2_000,
    unit: 'milliseconds',
    description:
      'Time that a call waits for a healthy node if no node is healthy; then it fails with HTTP status 503. 0 for no wait.',
  }),
  cacheMemoryBytes: Type.Integer({
    minimum: 0,
    maximum: 64 * 1024 * 1024 * 1024,
    default: 64 * 1024 * 1024,
    unit: 'bytes',
    description: 'Memory for cached results of nodes, per network.',
  }),
  cacheDiskBytes: Type.Integer({
    minimum: 0,
    maximum: 1024 * 1024 * 1024 * 1024,
    default: 1024 * 1024 * 1024,
    unit: 'bytes',
    description: 'Size of the cache of final results in the data folder.',
  }),
  compression: Type.Union([Type.Literal('auto'), Type.Literal('off')], {
    default: 'auto',
    description:
      'auto: compress responses above 1 KiB for clients that accept it, while CPU time is free. off: never compress responses. Compressed request bodies are accepted in both modes.',
  }),
  limits: CallLimits,
  agreement: Agreement,
  webSocket: WebSocket,
});

const Index = group({
  from: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 4294967295,
      description: 'First block to index. Default: the latest 800 blocks are indexed, older ones on demand.',
    }),
  ),
  cacheBytes: Type.Integer({
    minimum: 1024 * 1024,
    maximum: 4 * 1024 * 1024 * 1024 - 1,
    default: 80 * 1024 * 1024,
    unit: 'bytes',
    description: 'Memory for the JSON of recently used traces.',
  }),
  onDemandBytes: Type.Integer({
    minimum: 0,
    maximum: 1024 * 1024 * 1024 * 1024,
    default: 4 * 1024 * 1024 * 1024,
    unit: 'bytes',
    description:
      'Size of the blocks in the index of a network that were indexed because a client requested them, before compression. Above it, the oldest are removed. 0: removed ten seconds after the request. Blocks from index.from on do not count. No effect with traceStore.',
  }),
  maxBlockBytes: Type.Integer({
    minimum: 1024 * 1024,
    maximum: 1024 * 1024 * 1024,
    default: 64 * 1024 * 1024,
    unit: 'bytes',
    description:
      'Memory for the traces of one block while they are read from a node, identical inputs and outputs counted once. A larger block is not indexed.',
  }),
  traceTimeoutMs: Type.Integer({
    minimum: 1000,
    maximum: 600_000,
    default: 30_000,
    unit: 'milliseconds',
    description:
      'Maximum time that a node may take to trace a transaction, passed to its tracer, and maximum time without data while a node traces a block. A response of up to 8 MiB may take four times as long in all. Then the next node is asked.',
  }),
  checkReceipts: Type.Boolean({
    default: false,
    description:
      'Whether the traces of each block are compared with its receipts (eth_getBlockReceipts): a node that hides a failed transaction is then detected. One more call per block.',
  }),
  pollIntervalMs: Type.Integer({
    minimum: 50,
    maximum: 60_000,
    default: 1000,
    unit: 'milliseconds',
    description: 'Interval at which each node is polled for its head.',
  }),
  finality: Type.Optional(
    Type.String({
      pattern: '^(node|none|depth:[1-9][0-9]{0,6})$',
      allowed: 'node, none, depth:N with N blocks from 1 to 9999999',
      description:
        'Blocks that count as final: those that the node reports as finalized (node), those N below the head (depth:N), or none. Default: none on the development chains 1337 and 31337, else node.',
    }),
  ),
});

const UpstreamUrl = Type.String({ pattern: '^https?://' });
/** Node of a network: a URL, or an object with budgets. Only the file has objects; variables and flags have URLs. */
const Upstream = Type.Union(
  [
    UpstreamUrl,
    group({
      url: UpstreamUrl,
      callsPerSecond: Type.Optional(Type.Integer({ minimum: 5, maximum: 1_000_000 })),
      bytesPerSecond: Type.Optional(Type.Integer({ minimum: 65_536, maximum: 1_000_000_000_000 })),
    }),
  ],
  {
    allowed:
      'a URL that starts with http:// or https://, or, in the file, url with callsPerSecond (5 to 1000000) and bytesPerSecond (65536 to 1000000000000)',
  },
);
/** Maximum number of nodes per network; far more than needed in practice. */
const MAX_UPSTREAMS = 32;
const NETWORK_NAME = '^[a-z0-9][a-z0-9-]{0,31}$';

export const isNetworkName = (name: string): boolean => new RegExp(NETWORK_NAME).test(name);

const Networks = Type.Record(
  Type.String({ pattern: NETWORK_NAME }),
  group({
    upstream: Type.Array(Upstream, { minItems: 1, maxItems: MAX_UPSTREAMS }),
    indexFrom: Type.Optional(Type.Integer({ minimum: 0, maximum: 4294967295 })),
  }),
  {
    default: {},
    additionalProperties: false,
    fileOnly: true,
    // The networks' URLs may contain keys.
    secret: true,
    description: 'Further networks, each served at /v1/NAME.',
    allowed:
      'networks by name (a-z, 0-9, -), each with upstream: a list of URLs (or url with its limits), and indexFrom: its first block, if wanted',
  },
);

const Rules = group({
  store: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      maxLength: 4096,
      secret: true,
      allowed:
        'a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full (docs/operate/postgresql.md)',
      description:
        'PostgreSQL for rules, access lists, tokens and the audit, for instances that share them. Default: the data folder.',
    }),
  ),
  storeListen: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      maxLength: 4096,
      secret: true,
      allowed: 'a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full',
      description:
        'Direct URL of the database for LISTEN, if rules.store leads to a pooler in transaction mode. Default: rules.store.',
    }),
  ),
  rateLimitRequests: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      unit: 'requests',
      description: 'Maximum requests to the rules API per token in 300 s. Default: no limit.',
    }),
  ),
});

const DAY_MINUTES = 1440;

/** Pattern of an IP address with a port, such as `192.0.2.1:53` or `[2001:db8::1]:53`. */
const HOST_AND_PORT = '^(\\[[0-9a-fA-F:.]+\\]|[0-9.]+):[0-9]{1,5}$';
const ADDRESS_AND_PORT = {
  pattern: HOST_AND_PORT,
  allowed: 'an address and a port like 192.0.2.1:53 or [2001:db8::1]:53',
};

const Transfers = group({
  allow: Type.Array(Type.String({ minLength: 1, allowed: 'a network or an address' }), {
    default: [],
    maxItems: 1000,
    description:
      'Networks (192.0.2.0/24, 2001:db8::/32) and addresses that may transfer zones (AXFR, IXFR) through the guard or dnsdist, over TCP. Default: none.',
  }),
});

const ResponseRateLimit = group({
  perSecond: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    unit: 'answers',
    description:
      'Maximum identical answers per second over UDP to one client network (/24, /56), so that the guard cannot be used to flood a forged address. Answers above the limit are truncated (TC=1). Default: 0, no limit.',
  }),
});

const perSecond = (description: string, value?: number) =>
  Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    ...(value !== undefined && { default: value }),
    unit: 'queries a second',
    description,
  });

const Thresholds = group({
  unknownPerSecond: perSecond(
    'Queries for unknown names per second in one zone that count as an attack, regardless of its baseline and of the answers. A quiet zone has a lower threshold.',
    1000,
  ),
  accountUnknownPerSecond: perSecond(
    'Queries for unknown names per second in all zones together that count as an attack.',
    5000,
  ),
  ratePerSecond: Type.Optional(
    perSecond(
      'Rate of the account, before sensitivities. Default: learned, the 95th percentile of its minutes.',
    ),
  ),
  burst: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 50_000_000,
      unit: 'queries',
      description: 'Burst of the account, before sensitivities. Default: five times the rate.',
    }),
  ),
});

/** Limits of the name of a region or datacenter. They are those of the name of a rule for such a location. */
const LOCATION = {
  minLength: 1,
  maxLength: 64,
  pattern: '^[\\x21-\\x7e]+$',
  allowed: '1 to 64 visible ASCII characters without spaces',
};

const Dns = group({
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 32,
      pattern: '^[A-Za-z0-9_-]+$',
      allowed: '1 to 32 letters, digits, _ and -',
      description: 'Account whose rules the DNS guard enforces. Default: no guard.',
    }),
  ),
  region: Type.Optional(
    Type.String({ ...LOCATION, description: 'Region of the guard, as in rules. Case makes no difference.' }),
  ),
  datacenter: Type.Optional(
    Type.String({
      ...LOCATION,
      description: 'Data center of the guard, as in rules. Case makes no difference.',
    }),
  ),
  listen: Type.Array(Type.String(ADDRESS_AND_PORT), {
    default: ['127.0.0.1:5300'],
    maxItems: 32,
    description: 'Addresses and ports on which the guard answers DNS over UDP and TCP.',
  }),
  servers: Type.Array(Type.String(ADDRESS_AND_PORT), {
    default: [],
    maxItems: 32,
    description: 'Addresses and ports of the authoritative servers to which the guard forwards queries.',
  }),
  proxyProtocolServers: Type.Array(
    Type.String({
      pattern: `${HOST_AND_PORT.slice(0, -1)}(/udp)?$`,
      allowed: 'an address and a port like 192.0.2.1:53, with /udp appended for UDP only',
    }),
    {
      default: [],
      maxItems: 32,
      description:
        'Servers of dns.servers that receive the client address by PROXY protocol version 2: 192.0.2.1:53 over UDP and TCP, 192.0.2.1:53/udp over UDP only, as for Knot. A server that does not support it does not answer.',
    },
  ),
  probeName: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Zone for health checks: each server is queried for its SOA twice a second. Default: the first of dns.zones, or the root, for which any answer except SERVFAIL is accepted.',
    }),
  ),
  responseRateLimit: ResponseRateLimit,
  zones: Type.Array(Type.String({ pattern: '^[^=]+=.+$' }), {
    default: [],
    maxItems: 4096,
    allowed:
      'a list of at most 4096, each a zone and its source: example.com=FILE, example.com=axfr:192.0.2.1:53 or example.com=axfr:192.0.2.1:53 key NAME',
    description:
      'Zones whose names are known from the start: example.com=FILE, or example.com=axfr:192.0.2.1:53 to transfer it; with " key NAME" appended, the transfer is signed with that TSIG key.',
  }),
  tsigKeys: Type.Array(Type.String({ pattern: '^[^:]+:[^:]+:[^:]+$' }), {
    default: [],
    maxItems: 1000,
    secret: true,
    allowed:
      'keys in the format of `dig -y`: hmac-sha256:NAME:SECRET or hmac-sha512:NAME:SECRET, with the secret in base64',
    description: 'TSIG keys for zone transfers.',
  }),
  tsigKeyFiles: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    maxItems: 1000,
    description:
      'Files with TSIG keys: `key` statements as printed by tsig-keygen, or one key per line as in dns.tsigKeys.',
  }),
  transfers: Transfers,
  dnsdistConsoles: Type.Array(Type.String(ADDRESS_AND_PORT), {
    default: [],
    maxItems: 256,
    description:
      'Consoles of the dnsdist nodes in front of the servers: the guard controls these nodes, and answers no DNS itself.',
  }),
  dnsdistKey: Type.Optional(
    Type.String({
      minLength: 44,
      maxLength: 44,
      pattern: '^[A-Za-z0-9+/]{43}=$',
      secret: true,
      allowed: '32 bytes in base64, from makeKey() of dnsdist',
      description: 'Key of the dnsdist consoles: the value passed to setKey() in dnsdist.conf.',
    }),
  ),
  dnsdistFolder: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Folder for the file of known names, which dnsdist reads. Default: the folder dnsdist in the data folder.',
    }),
  ),
  dnstapListen: Type.String({
    ...ADDRESS_AND_PORT,
    default: '127.0.0.1:5301',
    description: 'Address and port to which dnsdist sends dnstap.',
  }),
  limitAction: Type.Union([Type.Literal('drop'), Type.Literal('truncate')], {
    default: 'drop',
    description:
      'Treatment of a limited query: no answer (drop), or TC=1 (truncate), after which real clients retry over TCP.',
  }),
  timeoutMs: Type.Integer({
    minimum: 50,
    maximum: 30_000,
    default: 2000,
    unit: 'milliseconds',
    description: 'Timeout of an authoritative server.',
  }),
  tcpMaxQueries: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    default: 1000,
    unit: 'queries',
    description: 'Maximum queries per TCP connection to the embedded guard; then the connection is closed.',
  }),
  threads: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    unit: 'threads',
    description:
      'Threads of the embedded guard that receive over UDP; 0: one per core, at most four. Several need Node 22.12, 23.1 or later; older versions use one. Another thread serves TCP. 1: the main thread, which also serves HTTP, does all.',
  }),
  maxNames: Type.Integer({
    minimum: 1000,
    maximum: 100_000_000,
    default: 1_000_000,
    unit: 'names',
    description: 'Maximum names in the profile, which uses 21 bytes per name and 3 MB.',
  }),
  learnForMinutes: Type.Integer({
    minimum: 0,
    maximum: 90 * DAY_MINUTES,
    default: 240,
    unit: 'minutes',
    description:
      'Learning time. An unseeded guard drops nothing until it has seen this much traffic without an attack. A zone judged by rate passes every query until it has had this much traffic.',
  }),
  thresholds: Thresholds,
});

const Console = group({
  enabled: Type.Boolean({
    default: false,
    description:
      'Whether the web console is served at /console/, on the port of the rules API. It shows nothing without a token. Default of `floodgate dev`: true.',
  }),
  abis: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'JSON file with the ABIs of contracts, by address, for the page Traces; * for any contract (docs/guides/console.md). At most 5 MiB with console.labels; read at the start and at SIGHUP.',
    }),
  ),
  labels: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'JSON file with labels of addresses, for the page Traces; read like console.abis.',
    }),
  ),
});

export const ConfigSchema = group({
  host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address to listen on.' }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8420,
    description: 'Port to listen on; 0 for any free port.',
  }),
  dataDir: Type.String({
    minLength: 1,
    default: 'floodgate-data',
    description: 'Data folder; created if it is missing.',
  }),
  traceStore: Type.Optional(
    Type.String({
      pattern: '^clickhouse://',
      maxLength: 4096,
      secret: true,
      allowed:
        'a URL such as clickhouse://USER:PASSWORD@HOST:8443,HOST:8443/DATABASE (docs/operate/clickhouse.md)',
      description:
        'ClickHouse database with the traces of final blocks, which several servers share; the hosts have the same tables. Default: all blocks are in the data folder.',
    }),
  ),
  traceStoreRecentBlocks: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1024,
    description:
      'With traceStore: minimum number of newest blocks in the index in the data folder. Older blocks are removed when they are final and in the shared index.',
  }),
  upstream: Type.Array(Upstream, {
    default: [],
    maxItems: MAX_UPSTREAMS,
    isAddress: true,
    description:
      'URL of an Ethereum node (JSON-RPC over HTTP) to index from and relay to; several nodes replace each other on failure. In the file each node may have its own limits. Served at /v1/mainnet.',
  }),
  networks: Networks,
  role: Type.String({
    pattern: `^(all|${ROLE}(,${ROLE})*)$`,
    maxLength: 64,
    default: 'all',
    allowed: `all, or one or more of ${ROLES.join(', ')}, separated by commas`,
    description:
      'Roles of this server. Only ports and stores of these roles are opened (docs/operate/scale.md). Options of other roles are ignored, so that all servers can share one file. rules: the rules API without a node. rules,guard: DNS protection without a node.',
  }),
  apiToken: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 256,
      pattern: '^[\\x21-\\x7e]+$',
      secret: true,
      description:
        'The server’s own API token, with all permissions for all accounts of the rules API. A token of `floodgate token create` is rejected at the start. Commands use FLOODGATE_TOKEN instead.',
    }),
  ),
  workers: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 1, maximum: 64 })], {
    default: 1,
    allowed: 'auto, or a whole number from 1 to 64',
    description:
      'Worker processes that serve the gateway, in addition to the first process for everything else; auto: one per CPU core. 1: a single process does everything.',
  }),
  stopDelayMs: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 0,
    unit: 'milliseconds',
    description:
      'Time for which a stopping server still serves requests, while /readyz is 503, so that load balancers remove it first.',
  }),
  stopTimeoutMs: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 10_000,
    unit: 'milliseconds',
    description: 'Time that a stop waits for running requests.',
  }),
  log: Log,
  spans: Spans,
  http: Http,
  tls: Tls,
  ops: Ops,
  alerts: Alerts,
  console: Console,
  rules: Rules,
  gateway: Gateway,
  index: Index,
  dns: Dns,
});

export type Config = Static<typeof ConfigSchema>;
