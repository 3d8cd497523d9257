/** How the server is, as OpenAPI describes it. docs/operating.md says what each member means. */
import Type from 'typebox';

const closed = { additionalProperties: false };
const ref = (name: string) => Type.Ref(`#/components/schemas/${name}`);
const count = (description?: string) => Type.Number({ minimum: 0, ...(description && { description }) });
const orNull = (type: 'number' | 'string', description?: string) =>
  Type.Unsafe({ type: [type, 'null'], ...(description && { description }) });
const counts = (description: string) => Type.Object({}, { additionalProperties: Type.Number(), description });

export const healthSchemas = {
  NodeHealth: Type.Object(
    {
      node: Type.String(),
      host: Type.String(),
      health: Type.Enum(['unknown', 'healthy', 'failing', 'busy', 'drained', 'quarantined', 'wrongChain'], {
        type: 'string',
      }),
      head_block: orNull('number', 'Its latest block; null before it has told one.'),
      lag_blocks: orNull('number', 'Blocks behind the head of the network.'),
      latency_ms: count('Time until an answer, averaged over about the last twenty.'),
      in_flight: count('Requests that it has not answered yet.'),
      failures: count('Since the start.'),
      last_failure: Type.Optional(
        Type.Object({ at: Type.String({ format: 'date-time' }), reason: Type.String() }, closed),
      ),
    },
    closed,
  ),
  IndexHealth: Type.Object(
    {
      head_block: orNull('number', 'Its highest block; null where it has none.'),
      lag_blocks: orNull('number', 'Blocks behind the head of the network.'),
      first_missing_block: orNull('number', 'The lowest one missing of those to index.'),
      failure: orNull('string', 'Why the nodes cannot be followed now.'),
      bytes: count('On disk.'),
      blocks_per_second: count('Written in the last minute.'),
    },
    closed,
  ),
  NetworkHealth: Type.Object(
    {
      network: Type.String(),
      chain_id: orNull('string', 'As a quantity: 0x1.'),
      head_block: orNull('number', 'By all nodes.'),
      nodes: Type.Array(ref('NodeHealth')),
      index: ref('IndexHealth'),
      cache: Type.Object({ hits: count(), coalesced: count(), misses: count() }, closed),
    },
    closed,
  ),
  HealthMinute: Type.Object(
    {
      at: Type.String({ format: 'date-time', description: 'Its end.' }),
      ready: Type.Boolean(),
      rss_bytes: count('Memory at its end.'),
      cpu_seconds: count('Processor time.'),
      answers: counts('Answers over HTTP, by status.'),
      limited: count('Requests to the gateway that a limit refused.'),
      networks: Type.Array(
        Type.Object(
          {
            network: Type.String(),
            nodes_healthy: count(),
            head_block: orNull('number', 'By all nodes.'),
            calls: count(),
            errors: count('Calls answered with an error.'),
            indexed_blocks: count(),
          },
          closed,
        ),
      ),
      guard: Type.Optional(
        Type.Object(
          { queries: count('Over UDP.'), refused: count(), attacks: count('That lasted at its end.') },
          closed,
        ),
      ),
    },
    closed,
  ),
  Health: Type.Object(
    {
      ready: Type.Boolean({ description: 'As /readyz says it.' }),
      roles: Type.Array(Type.String(), { description: 'What the server is for.' }),
      checks: Type.Object({}, { additionalProperties: Type.String() }),
      started_on: Type.String({ format: 'date-time' }),
      versions: Type.Object({ floodgate: Type.String(), node: Type.String() }, closed),
      memory: Type.Object({ rss_bytes: count() }, closed),
      networks: Type.Array(ref('NetworkHealth')),
      limited: counts('Requests to the gateway that were refused, by limit, since the start.'),
      http: Type.Object(
        {
          connections: count(),
          unsent_bytes: count('Memory of answers that are being made, or that clients have not taken.'),
          connections_cut: counts('Since the start, by reason.'),
        },
        closed,
      ),
      stores: Type.Array(Type.Object({ store: Type.String(), bytes: count('On disk.') }, closed)),
      guard: Type.Optional(
        Type.Object(
          {
            not_ready: orNull('string', 'What is not as configured yet.'),
            attacks: count('Those that have not ended.'),
          },
          { ...closed, description: 'Left out where no guard runs.' },
        ),
      ),
    },
    closed,
  ),
};

export const exampleHealth = {
  ...{ ready: true, roles: ['gateway', 'ingest', 'rules'], checks: { store: 'ok', ingest: 'ok' } },
  started_on: '2026-11-20T22:10:38.762Z',
  ...{ versions: { floodgate: '0.1.0', node: '22.21.1' }, memory: { rss_bytes: 140_000_000 } },
  networks: [
    {
      ...{ network: 'mainnet', chain_id: '0x1', head_block: 23_800_000 },
      nodes: [
        {
          ...{
            node: 'node-1',
            host: '192.0.2.1:8545',
            health: 'healthy',
            head_block: 23_800_000,
            lag_blocks: 0,
          },
          ...{ latency_ms: 3.2, in_flight: 1, failures: 0 },
        },
      ],
      index: {
        ...{ head_block: 23_800_000, lag_blocks: 0, first_missing_block: null, failure: null },
        ...{ bytes: 4_000_000_000, blocks_per_second: 0.083 },
      },
      cache: { hits: 900, coalesced: 20, misses: 80 },
    },
  ],
  limited: { in_flight: 0 },
  http: { connections: 12, unsent_bytes: 0, connections_cut: { timeout: 0, memory: 0, place: 0 } },
  stores: [{ store: 'rules', bytes: 65_536 }],
};

export const exampleHealthMinute = {
  ...{ at: '2026-11-20T22:10:38.762Z', ready: true, rss_bytes: 140_000_000, cpu_seconds: 1.2 },
  ...{ answers: { '200': 1200, '429': 3 }, limited: 3 },
  networks: [
    {
      ...{ network: 'mainnet', nodes_healthy: 2, head_block: 23_800_000 },
      ...{ calls: 1200, errors: 4, indexed_blocks: 5 },
    },
  ],
};
