/**
 * The configuration: one schema, from which the file's form, the variables, the flags, their checks, their defaults and
 * their documentation all come. Add an option here and nowhere else.
 */
import { type Static, Type } from 'typebox';

/** As OpenTelemetry names them. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** What a server is for; docs/scale.md says what each of them opens. */
export const ROLES = ['gateway', 'ingest', 'rules', 'guard'] as const;
const ROLE = `(${ROLES.join('|')})`;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const Log = Type.Object(
  {
    level: Type.Union(
      LOG_LEVELS.map((level) => Type.Literal(level)),
      { default: 'info', description: 'The least important lines that are logged.' },
    ),
    accessFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'File to which a line for each HTTP request is appended; one that was moved away, as by logrotate, is made anew. Left out: there is no access log.',
      }),
    ),
    accessFormat: Type.Union([Type.Literal('combined'), Type.Literal('json')], {
      default: 'combined',
      description:
        'Form of these lines. combined: the Combined Log Format of web servers. json: one JSON object a line, with the duration.',
    }),
  },
  { additionalProperties: false },
);

const Http = Type.Object(
  {
    maxUnsentBytes: Type.Integer({
      minimum: 1024 * 1024,
      maximum: 64 * 1024 * 1024 * 1024,
      default: 96 * 1024 * 1024,
      unit: 'bytes',
      description:
        'Memory for answers that are being made or that clients have not read yet; when it is full, the slowest readers are cut.',
    }),
    maxUnsentBytesPerAddress: Type.Integer({
      minimum: 64 * 1024,
      maximum: 64 * 1024 * 1024 * 1024,
      default: 48 * 1024 * 1024,
      unit: 'bytes',
      description:
        'The same for one client address (for IPv6, one /64); its further requests are refused with 429 until it reads.',
    }),
    sendTimeoutMs: Type.Integer({
      minimum: 1000,
      maximum: 600_000,
      default: 30_000,
      unit: 'milliseconds',
      description: 'How long a client may take nothing of its answer before it is disconnected.',
    }),
    trustedProxies: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 100,
      description:
        'Addresses and networks (192.0.2.7, 10.0.0.0/8, fd00::/8) of proxies whose X-Forwarded-For gives the address of the client, for limits and for the audit. Left out: no proxy is trusted.',
    }),
    allowedHosts: Type.Optional(
      Type.Array(Type.String({ pattern: '^(\\*|[A-Za-z0-9._-]{1,253})$' }), {
        maxItems: 100,
        allowed: 'a list of at most 100, each a host name without a port, or * for any',
        description:
          'Host names that requests may be sent to (their Host header), beside localhost and IP addresses; a request for another is refused with 421. Left out: no others on a loopback address, where a web page could reach the server by a name of its own (DNS rebinding), and any elsewhere. A proxy on the same machine that passes its own name on needs it here.',
      }),
    ),
  },
  { additionalProperties: false },
);

const Agreement = Type.Object(
  {
    methods: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 100,
      description:
        'Methods of which several nodes are asked each time, and the answer is what most of them say. Left out: none.',
    }),
    nodes: Type.Integer({
      minimum: 2,
      maximum: 9,
      default: 3,
      unit: 'nodes',
      description: 'How many nodes are asked for these methods; fewer where a network has fewer.',
    }),
  },
  { additionalProperties: false },
);

const Spans = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://',
        isAddress: true,
        standardVariable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
        description:
          'Where spans are sent by OTLP over HTTP, as JSON, such as http://127.0.0.1:4318/v1/traces; used as it is. Left out: nothing is traced.',
      }),
    ),
    headers: Type.Array(
      Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}=[\\x21-\\x7e]{0,4096}$" }),
      {
        default: [],
        maxItems: 16,
        secret: true,
        standardVariable: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
        allowed:
          'a list of at most 16 headers, each NAME=VALUE with the value percent-encoded where it must be',
        description: 'Headers that are sent with them, such as a key of the collector. Left out: none.',
      },
    ),
    sampler: Type.Union(
      SAMPLERS.map((sampler) => Type.Literal(sampler)),
      {
        default: 'traceidratio',
        standardVariable: 'OTEL_TRACES_SAMPLER',
        description:
          'Which requests are traced, as OpenTelemetry names it. With parentbased_… it is the client who decides where its traceparent says so: for clients that are your own.',
      },
    ),
    samplerArg: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      standardVariable: 'OTEL_TRACES_SAMPLER_ARG',
      description: 'The share of requests that …traceidratio traces: 0.01 is one of a hundred.',
    }),
    intervalMs: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 5_000,
      unit: 'milliseconds',
      standardVariable: 'OTEL_BSP_SCHEDULE_DELAY',
      description: 'How long spans are gathered before they are sent; 512 are sent at once.',
    }),
    serviceName: Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: '^[\\x21-\\x7e]+$',
      default: 'floodgate',
      standardVariable: 'OTEL_SERVICE_NAME',
      description: 'What this server is called in its spans.',
    }),
  },
  { additionalProperties: false },
);

const certificate = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

const Tls = Type.Object(
  {
    cert: certificate(
      'File with the certificate chain (PEM); HTTPS is served instead of HTTP, with TLS 1.2 and later. Read again when it changes.',
    ),
    key: certificate('File with the private key of the certificate (PEM, no passphrase).'),
  },
  { additionalProperties: false },
);

const OpsTls = Type.Object(
  {
    cert: certificate(
      'File with the certificate chain (PEM) of ops.port, where HTTPS is served then. It may be that of tls.cert. Read again when it changes.',
    ),
    key: certificate('File with the private key of that certificate (PEM, no passphrase).'),
    clientCa: certificate(
      'File with the authorities (PEM) by one of which the certificate of every client of ops.port must be issued; only /healthz and /readyz are answered without. Read again when it changes, which ends all connections there. Left out: clients need none.',
    ),
  },
  { additionalProperties: false },
);

const Ops = Type.Object(
  {
    host: Type.Optional(
      Type.String({ minLength: 1, description: 'Address of ops.port. Left out: 127.0.0.1.' }),
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        description:
          'Port for what operators use: the rules API, the console, /operations, /metrics, /healthz and /readyz; host and port then show the gateway alone. 0 for any free port. Left out, and without ops.socket: all is shown on one port.',
      }),
    ),
    socket: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Path of a Unix socket for the same, in place of ops.port.',
      }),
    ),
    socketMode: Type.Union(
      ['600', '660', '666'].map((mode) => Type.Literal(mode)),
      {
        default: '600',
        description: 'Permissions of that socket: who may connect, the owner, the group or everybody.',
      },
    ),
    tls: OpsTls,
  },
  { additionalProperties: false },
);

const Alerts = Type.Object(
  {
    webhooks: Type.Array(Type.String({ pattern: '^(slack\\+)?https?://' }), {
      default: [],
      maxItems: 8,
      secret: true,
      allowed:
        'a list of at most 8 different URLs that start with https:// or http://, or with slack+https:// or slack+http:// for the form that Slack takes',
      description:
        'Where alerts are sent by HTTP POST: as JSON, or, with slack+ before the URL, as the text that Slack, Mattermost and others take. Left out: nowhere.',
    }),
    secret: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 256,
        pattern: '^[\\x21-\\x7e]+$',
        secret: true,
        description:
          'Signs alerts: X-Floodgate-Signature has a time and the HMAC-SHA-256 of that and the body. Left out: they are not signed.',
      }),
    ),
    allowPrivate: Type.Boolean({
      default: false,
      description:
        'Whether alerts may be sent to addresses that are not of the public Internet: private, loopback, link-local ones.',
    }),
    afterMs: Type.Integer({
      minimum: 0,
      maximum: 3_600_000,
      default: 30_000,
      unit: 'milliseconds',
      description:
        'How long a node, the ingest or the store must be unwell before it is told, and well before it is told to be over. Attacks are told at once.',
    }),
  },
  { additionalProperties: false },
);

const WebSocket = Type.Object(
  {
    maxConnections: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 10_000,
      unit: 'connections',
      description: 'WebSockets open at the same time; one more is refused with 429. 0 for no WebSocket.',
    }),
    maxConnectionsPerAddress: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
      unit: 'connections',
      description: 'The same of one client address.',
    }),
    maxConnectionsPerKey: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 1_000,
      unit: 'connections',
      description: 'The same of one API key.',
    }),
    maxSubscriptionsPerAddress: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 1_000,
      unit: 'subscriptions',
      description: 'Subscriptions of one client address, over all of its WebSockets.',
    }),
    maxSubscriptionsPerKey: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
      unit: 'subscriptions',
      description: 'The same of one API key.',
    }),
    maxUnsentBytes: Type.Integer({
      minimum: 64 * 1024,
      maximum: 1024 * 1024 * 1024,
      default: 4 * 1024 * 1024,
      unit: 'bytes',
      description:
        'What a WebSocket was pushed and its client has not read; one that is further behind is closed with 1008.',
    }),
    idleTimeoutMs: Type.Integer({
      minimum: 300,
      maximum: 3_600_000,
      default: 60_000,
      unit: 'milliseconds',
      description:
        'A WebSocket on which nothing comes for longer, no message and no answer to a ping, is closed with 1001.',
    }),
  },
  { additionalProperties: false },
);

const Gateway = Type.Object(
  {
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
      description: 'Largest body of a request to the gateway.',
    }),
    maxAnswerBytes: Type.Integer({
      minimum: 1024,
      maximum: 1024 * 1024 * 1024,
      default: 64 * 1024 * 1024,
      unit: 'bytes',
      description: 'Largest result of one method; more is refused with an error, never cut.',
    }),
    methods: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 100,
      description: 'Methods to serve, of those in docs/gateway.md. Left out: all of them.',
    }),
    extraMethods: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      default: [],
      maxItems: 100,
      description:
        'Further methods to relay to the nodes by name, parameters and answers unchecked, nothing cached or sent twice. Methods that would hand over a node, its keys or its chain are refused. Left out: none.',
    }),
    maxInFlight: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 2048,
      unit: 'requests',
      description: 'Requests in flight at the same time; one more is refused at once with 429.',
    }),
    ratePerAddress: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      unit: 'calls per second',
      description: 'Calls from one client address; 0 for no limit.',
    }),
    requestTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: 600_000,
      default: 30_000,
      unit: 'milliseconds',
      description: 'Time that all nodes together have to answer a relayed call.',
    }),
    nodeWaitMs: Type.Integer({
      minimum: 0,
      maximum: 60_000,
      default: 2_000,
      unit: 'milliseconds',
      description:
        'How long a call waits for a node to come back where all are away; then it fails with HTTP status 503. 0 for no wait.',
    }),
    cacheMemoryBytes: Type.Integer({
      minimum: 0,
      maximum: 64 * 1024 * 1024 * 1024,
      default: 64 * 1024 * 1024,
      unit: 'bytes',
      description: 'Memory for cached answers of nodes, for each network.',
    }),
    cacheDiskBytes: Type.Integer({
      minimum: 0,
      maximum: 1024 * 1024 * 1024 * 1024,
      default: 1024 * 1024 * 1024,
      unit: 'bytes',
      description: 'Size of the cache of final answers in the data folder.',
    }),
    cacheUnconfirmedMs: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 3_600_000,
      unit: 'milliseconds',
      description:
        'How long an answer about a final block is cached that only one node gave; what two nodes said is cached for good. 0 for not at all.',
    }),
    compression: Type.Union([Type.Literal('auto'), Type.Literal('off')], {
      default: 'auto',
      description:
        'auto: answers above 1 KiB are compressed for clients that ask for it, cached ones once for all, others while there is processor time to spare. off: none is. Compressed bodies of requests are taken in any case.',
    }),
    filterSecret: Type.Optional(
      Type.String({
        minLength: 32,
        maxLength: 256,
        pattern: '^[\\x21-\\x7e]+$',
        secret: true,
        description:
          'Proves that ids of HTTP filters are ours: servers that have the same one, as `openssl rand -hex 32` makes it, answer for the filters of each other. Left out: one that is made at the first start and kept in the data folder.',
      }),
    ),
    agreement: Agreement,
    webSocket: WebSocket,
  },
  { additionalProperties: false },
);

const Index = Type.Object(
  {
    from: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4294967295,
        description:
          'First block to index. Left out: the latest 800 blocks are indexed, older ones on demand.',
      }),
    ),
    cacheBytes: Type.Integer({
      minimum: 1024 * 1024,
      maximum: 4 * 1024 * 1024 * 1024 - 1,
      default: 80 * 1024 * 1024,
      unit: 'bytes',
      description: 'Memory for the JSON of recently used traces.',
    }),
    pollIntervalMs: Type.Integer({
      minimum: 50,
      maximum: 60_000,
      default: 1000,
      unit: 'milliseconds',
      description: 'How often each node is asked for its head.',
    }),
    finality: Type.Optional(
      Type.String({
        pattern: '^(node|none|depth:[1-9][0-9]{0,6})$',
        allowed: 'node, none, depth:N with N blocks from 1 to 9999999',
        description:
          'Which blocks are never replaced: those that the node calls finalized, those N below the head, or none. Left out: none on the development chains 1337 and 31337, else node.',
      }),
    ),
  },
  { additionalProperties: false },
);

const UpstreamUrl = Type.String({ pattern: '^https?://' });
/** With limits only in the file: a list of a variable or a flag holds URLs. */
const Upstream = Type.Union(
  [
    UpstreamUrl,
    Type.Object(
      {
        url: UpstreamUrl,
        callsPerSecond: Type.Optional(Type.Integer({ minimum: 5, maximum: 1_000_000 })),
        bytesPerSecond: Type.Optional(Type.Integer({ minimum: 65_536, maximum: 1_000_000_000_000 })),
      },
      { additionalProperties: false },
    ),
  ],
  {
    allowed:
      'a URL that starts with http:// or https://, or, in the file, url with callsPerSecond (5 to 1000000) and bytesPerSecond (65536 to 1000000000000)',
  },
);
/** Nodes of a network; far more than anybody runs. */
const MAX_UPSTREAMS = 32;
const NETWORK_NAME = '^[a-z0-9][a-z0-9-]{0,31}$';

/** Whether a network may be called so. */
export const isNetworkName = (name: string): boolean => new RegExp(NETWORK_NAME).test(name);

const Networks = Type.Record(
  Type.String({ pattern: NETWORK_NAME }),
  Type.Object(
    {
      upstream: Type.Array(Upstream, { minItems: 1, maxItems: MAX_UPSTREAMS }),
      indexFrom: Type.Optional(Type.Integer({ minimum: 0, maximum: 4294967295 })),
    },
    { additionalProperties: false },
  ),
  {
    default: {},
    additionalProperties: false,
    fileOnly: true,
    // The URLs in it may hold keys.
    secret: true,
    description: 'Further networks, each served at /v1/NAME.',
    allowed:
      'networks by name (a-z, 0-9, -), each with upstream: a list of URLs (or url with its limits), and indexFrom: its first block, if wanted',
  },
);

const Rules = Type.Object(
  {
    store: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        maxLength: 4096,
        secret: true,
        allowed:
          'a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full (docs/postgresql.md)',
        description:
          'PostgreSQL in which rules, access lists, tokens and the audit are kept, for instances that share them. Left out: they are in the data folder.',
      }),
    ),
    rateLimitRequests: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        unit: 'requests',
        description: 'Requests to the rules API that one token may send in a window. Left out: no limit.',
      }),
    ),
    rateLimitWindowSeconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 300,
      unit: 'seconds',
      description: 'Length of the rate limit window.',
    }),
  },
  { additionalProperties: false },
);

const DAY_MINUTES = 1440;

/** An address and a port: `192.0.2.1:53`, `[2001:db8::1]:53`. */
const HOST_AND_PORT = '^(\\[[0-9a-fA-F:.]+\\]|[0-9.]+):[0-9]{1,5}$';

const percent = (level: string, value: number) =>
  Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: value,
    unit: 'percent',
    description: `Size of rate and burst at sensitivity ${level}, of the threshold.`,
  });

const Transfers = Type.Object(
  {
    allow: Type.Array(Type.String({ minLength: 1, allowed: 'a network or an address' }), {
      default: [],
      maxItems: 1000,
      description:
        'Networks (192.0.2.0/24, 2001:db8::/32) and addresses that may transfer zones (AXFR, IXFR) through the guard or dnsdist, over TCP. Left out: none.',
    }),
  },
  { additionalProperties: false },
);

const ResponseRateLimit = Type.Object(
  {
    perSecond: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      unit: 'answers',
      description:
        'Equal answers over UDP that one network of clients (/24, /56) gets in a second: so the guard cannot be made to flood somebody whose address is forged. 0: no limit.',
    }),
    slip: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 1,
      unit: 'answers',
      description:
        'Of so many answers above that limit one is sent as TC=1, which sends honest clients to TCP; the others are dropped. 1: all are sent so. 0: all are dropped.',
    }),
  },
  { additionalProperties: false },
);

const perSecond = (description: string, value?: number) =>
  Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    ...(value !== undefined && { default: value }),
    unit: 'queries a second',
    description,
  });

const Thresholds = Type.Object(
  {
    unknownPerSecond: perSecond(
      'Unknown names a second in one zone that are an attack, whatever was learned of it and however they are answered. A quiet zone has a lower alarm.',
      1000,
    ),
    accountUnknownPerSecond: perSecond('The same for all zones together.', 5000),
    ratePerSecond: Type.Optional(
      perSecond(
        'The rate of the account, before sensitivities. Left out: learned, the 95th percentile of its minutes.',
      ),
    ),
    burst: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 50_000_000,
        unit: 'queries',
        description: 'The burst of the account, before sensitivities. Left out: five times the rate.',
      }),
    ),
    zones: Type.Array(
      Type.String({ pattern: '^[^=]+=(unknown|rate|burst):[0-9]{1,8}(,(unknown|rate|burst):[0-9]{1,8})*$' }),
      {
        default: [],
        maxItems: 4096,
        description:
          'Thresholds of single zones: example.com=unknown:4000 is its unknownPerSecond; rate and burst (example.com=rate:500,burst:2500) are for one that is judged by rate alone.',
      },
    ),
  },
  { additionalProperties: false },
);

const Dns = Type.Object(
  {
    account: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        pattern: '^[A-Za-z0-9_-]+$',
        description: 'The account whose rules the DNS guard enforces. Left out: there is no guard.',
      }),
    ),
    region: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The region that the guard is in, as rules name it.',
      }),
    ),
    datacenter: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'The data center that the guard is in.' }),
    ),
    listen: Type.Array(Type.String({ pattern: HOST_AND_PORT }), {
      default: ['127.0.0.1:5300'],
      maxItems: 32,
      description: 'Addresses and ports where the guard answers DNS over UDP and TCP.',
    }),
    servers: Type.Array(Type.String({ pattern: HOST_AND_PORT }), {
      default: [],
      maxItems: 32,
      description: 'Addresses and ports of the authoritative servers behind the guard.',
    }),
    proxyProtocolServers: Type.Array(Type.String({ pattern: `${HOST_AND_PORT.slice(0, -1)}(/udp)?$` }), {
      default: [],
      maxItems: 32,
      description:
        'Those of dns.servers that are told who asks, by PROXY protocol version 2: 192.0.2.1:53 over UDP and TCP, 192.0.2.1:53/udp over UDP alone, as Knot takes it. A server that does not expect it answers nothing.',
    }),
    probeName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'The zone whose SOA every server behind is asked for, twice a second, to know whether it is well. Left out: the first of dns.zones, or the root, of which any answer but SERVFAIL will do.',
      }),
    ),
    responseRateLimit: ResponseRateLimit,
    zones: Type.Array(Type.String({ pattern: '^[^=]+=.+$' }), {
      default: [],
      maxItems: 4096,
      description:
        'Zones whose names are known from the start: example.com=FILE, or example.com=axfr:192.0.2.1:53 to transfer it; with " key NAME" behind it, signed by that TSIG key.',
    }),
    tsigKeys: Type.Array(Type.String({ pattern: '^[^:]+:[^:]+:[^:]+$' }), {
      default: [],
      maxItems: 1000,
      secret: true,
      allowed:
        'keys as `dig -y` takes them: hmac-sha256:NAME:SECRET or hmac-sha512:NAME:SECRET, with the secret in base64',
      description: 'TSIG keys by which zones are transferred.',
    }),
    tsigKeyFiles: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 1000,
      description:
        'Files with TSIG keys: `key` statements as tsig-keygen prints them, or a line for each as in dns.tsigKeys.',
    }),
    transfers: Transfers,
    dnsdistConsoles: Type.Array(Type.String({ pattern: HOST_AND_PORT }), {
      default: [],
      maxItems: 256,
      description:
        'Consoles of the dnsdist nodes in front of the servers: the guard drives these, and answers no DNS itself.',
    }),
    dnsdistKey: Type.Optional(
      Type.String({
        minLength: 44,
        maxLength: 44,
        pattern: '^[A-Za-z0-9+/]{43}=$',
        secret: true,
        description: 'The key of the dnsdist consoles, as setKey takes it.',
      }),
    ),
    dnsdistFolder: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Folder for the file of known names, which dnsdist reads. Left out: the folder dnsdist in the data folder.',
      }),
    ),
    dnstapListen: Type.String({
      pattern: HOST_AND_PORT,
      default: '127.0.0.1:5301',
      description: 'Address and port to which dnsdist sends dnstap.',
    }),
    refuseWith: Type.Union([Type.Literal('drop'), Type.Literal('truncate')], {
      default: 'drop',
      description:
        'What a query gets when the bucket is empty: no answer, or TC=1, which sends honest clients to TCP.',
    }),
    timeoutMs: Type.Integer({
      minimum: 50,
      maximum: 30_000,
      default: 2000,
      unit: 'milliseconds',
      description: 'How long a server behind the guard may take to answer.',
    }),
    tcpMaxQueries: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1000,
      unit: 'queries',
      description: 'Queries of one TCP connection to the embedded guard, after which it is closed.',
    }),
    workers: Type.Integer({
      minimum: 0,
      maximum: 64,
      default: 0,
      unit: 'threads',
      description:
        'Threads of the embedded guard that receive over UDP; 0 for one per core, at most four. Needs Node 22.12, 23.1 or later; older versions use one.',
    }),
    maxNames: Type.Integer({
      minimum: 1000,
      maximum: 100_000_000,
      default: 1_000_000,
      unit: 'names',
      description: 'Largest number of names in the profile, which takes 21 bytes each and 3 MB.',
    }),
    windowDays: Type.Integer({
      minimum: 1,
      maximum: 90,
      default: 7,
      unit: 'days',
      description:
        'A learned name that is not answered on so many days of its zone is forgotten; thresholds are computed from this much traffic.',
    }),
    learnForMinutes: Type.Integer({
      minimum: 0,
      maximum: 90 * DAY_MINUTES,
      default: 240,
      unit: 'minutes',
      description: 'How much traffic without an attack an unseeded guard must see before it drops anything.',
    }),
    thresholds: Thresholds,
    lowPercent: percent('low', 200),
    mediumPercent: percent('medium', 100),
    highPercent: percent('high', 50),
  },
  { additionalProperties: false },
);

const Console = Type.Object(
  {
    enabled: Type.Boolean({
      default: false,
      description:
        'Whether the web console is served at /console/, where the rules API is. It shows nothing without a token. `floodgate dev` serves it unless told otherwise.',
    }),
  },
  { additionalProperties: false },
);

export const ConfigSchema = Type.Object(
  {
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
      description: 'Folder for all data; created if it is missing.',
    }),
    traceStore: Type.Optional(
      Type.String({
        pattern: '^clickhouse://',
        maxLength: 4096,
        secret: true,
        allowed: 'a URL such as clickhouse://USER:PASSWORD@HOST:8443/DATABASE (docs/clickhouse.md)',
        description:
          'ClickHouse in which the index of traces is kept, for instances that share it. Left out: it is in the data folder.',
      }),
    ),
    traceStorePostgres: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        maxLength: 4096,
        secret: true,
        allowed:
          'a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full (docs/postgresql.md)',
        description:
          'PostgreSQL that says which blocks of traceStore count, and who writes it. Left out: that of rules.store.',
      }),
    ),
    traceStoreRecentBlocks: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 1024,
      description:
        'Beside traceStore: how many of the newest blocks are answered from an index in the data folder, at the least; it has twice as many at the most. 0 for none.',
    }),
    upstream: Type.Array(Upstream, {
      default: [],
      maxItems: MAX_UPSTREAMS,
      isAddress: true,
      description:
        'URL of an Ethereum node (JSON-RPC over HTTP) to index from and relay to; several stand in for each other. In the file each may have limits of its own. Served at /v1/mainnet.',
    }),
    networks: Networks,
    role: Type.String({
      pattern: `^(all|${ROLE}(,${ROLE})*)$`,
      maxLength: 64,
      default: 'all',
      allowed: `all, or one or more of ${ROLES.join(', ')} with commas between them`,
      description:
        'What this server is for: it opens only what that needs (docs/scale.md). Of the other options those of other roles are ignored, so that all servers can have one file.',
    }),
    rulesOnly: Type.Boolean({
      default: false,
      description:
        'Serve only the rules API; no node is needed. The same as role rules, and rules,guard where dns.account is set.',
    }),
    apiToken: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 256,
        pattern: '^[\\x21-\\x7e]+$',
        secret: true,
        description:
          'The server’s own API token, which may do everything for every account of the rules API. It must not be a token of `floodgate token create`: the server would not start. Clients read FLOODGATE_TOKEN.',
      }),
    ),
    workers: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 1, maximum: 64 })], {
      default: 1,
      allowed: 'auto, or a whole number from 1 to 64',
      description:
        'Processes that answer the gateway and read rules, beside one that does all else; auto is one for each processor. 1: one process does everything.',
    }),
    stopTimeoutMs: Type.Integer({
      minimum: 0,
      maximum: 600_000,
      default: 10_000,
      unit: 'milliseconds',
      description: 'How long a stop waits for running requests.',
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
  },
  { additionalProperties: false },
);

export type Config = Static<typeof ConfigSchema>;
