/** OpenAPI schemas of the server's health. docs/operate/monitoring.md explains the members. */
import Type from 'typebox';
import { closedObject, count, counts, describedObject, moment, oneOf, orNull, ref } from './schemaParts.ts';

export const healthSchemas = {
  NodeHealth: closedObject({
    node: Type.String(),
    host: Type.String(),
    health: oneOf(['unknown', 'healthy', 'failing', 'busy', 'drained', 'quarantined', 'wrongChain']),
    head_block: orNull('number', {
      description: 'Latest block of the node; null until the node has reported one.',
    }),
    lag_blocks: orNull('number', { description: 'Lag in blocks behind the head of the network.' }),
    latency_ms: count('Response time in milliseconds, averaged over about the last twenty responses.'),
    in_flight: count('Pending requests.'),
    failures: count('Failures since startup.'),
    last_failure: Type.Optional(closedObject({ at: moment(), reason: Type.String() })),
  }),
  IndexHealth: closedObject({
    head_block: orNull('number', { description: 'Highest block of the index; null if the index is empty.' }),
    lag_blocks: orNull('number', { description: 'Lag in blocks behind the head of the network.' }),
    first_missing_block: orNull('number', {
      description: 'Lowest block that is still to be indexed; null if none is.',
    }),
    failure: orNull('string', { description: 'Reason why indexing is failing; null if it is not.' }),
    bytes: count('Bytes on disk.'),
    blocks_per_second: count('Blocks written per second, averaged over the last minute.'),
  }),
  NetworkHealth: closedObject({
    network: Type.String(),
    chain_id: orNull('string', { description: 'Chain ID as a quantity, such as 0x1.' }),
    head_block: orNull('number', { description: 'Newest block known from all nodes.' }),
    nodes: Type.Array(ref('NodeHealth')),
    index: ref('IndexHealth'),
    cache: closedObject({ hits: count(), coalesced: count(), misses: count() }),
  }),
  HealthMinute: closedObject({
    at: moment('End of the minute.'),
    ready: Type.Boolean(),
    rss_bytes: count('Resident memory at the end of the minute.'),
    cpu_seconds: count('CPU time in seconds.'),
    answers: counts('HTTP responses, by status.'),
    limited: count('Gateway requests rejected by a limit.'),
    networks: Type.Array(
      closedObject({
        network: Type.String(),
        nodes_healthy: count(),
        head_block: orNull('number', { description: 'Newest block known from all nodes.' }),
        calls: count(),
        errors: count('Calls that returned an error.'),
        indexed_blocks: count(),
      }),
    ),
    guard: Type.Optional(
      closedObject({
        queries: count('Queries over UDP.'),
        limited: count(),
        attacks: count('Attacks active at the end of the minute.'),
      }),
    ),
  }),
  Health: closedObject({
    ready: Type.Boolean({ description: 'Readiness, as in /readyz.' }),
    roles: Type.Array(Type.String(), { description: 'Roles of the server.' }),
    checks: Type.Unsafe<Record<string, string>>(Type.Object({}, { additionalProperties: Type.String() })),
    started_on: moment(),
    versions: closedObject({ floodgate: Type.String(), node: Type.String() }),
    memory: closedObject({ rss_bytes: count() }),
    networks: Type.Array(ref('NetworkHealth')),
    limited: counts('Gateway requests rejected since startup, by limit.'),
    http: closedObject({
      connections: count(),
      unsent_bytes: count('Memory of responses in preparation or not yet received by clients.'),
      connections_closed: counts('Connections closed since startup, by reason.'),
    }),
    stores: Type.Array(closedObject({ store: Type.String(), bytes: count('Bytes on disk.') })),
    guard: Type.Optional(
      describedObject('Omitted if no guard runs.', {
        not_ready: orNull('string', {
          description: 'Difference from the configuration that is not applied yet.',
        }),
        attacks: count('Active attacks.'),
      }),
    ),
  }),
};
