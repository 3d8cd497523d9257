// Dashboards for Grafana, made by `npm run docs` from the table below into deploy/grafana/.

/** @typedef {readonly [title: string, unit: string, ...queries: readonly (readonly [legend: string, expr: string])[]]} Panel */

/** @type {Readonly<Record<string, { title: string, variables: readonly string[], rows: Readonly<Record<string, readonly Panel[]>> }>>} */
const DASHBOARDS = {
  dns: {
    title: 'Floodgate: DNS guard',
    variables: [],
    rows: {
      'Is there an attack?': [
        ['Zones under attack', 'short', ['{{instance}}', 'floodgate_dns_attacked_zones{$i}']],
        [
          'Queries by verdict',
          'reqps',
          ['{{outcome}}', 'sum by (outcome) (rate(floodgate_dns_queries_total{$i}[$__rate_interval]))'],
        ],
        [
          'Unknown names that paid or were refused, by reason',
          'reqps',
          [
            '{{outcome}} {{reason}}',
            'sum by (outcome, reason) (rate(floodgate_dns_queries_total{$i,reason!=""}[$__rate_interval]))',
          ],
        ],
        [
          'Tokens in the bucket',
          'short',
          ['tokens', 'floodgate_dns_bucket_tokens{$i}'],
          ['full', 'floodgate_dns_bucket_burst{$i}'],
        ],
      ],
      'Servers behind': [
        [
          'Answers by server',
          'reqps',
          [
            '{{server}} {{result}}',
            'sum by (server, result) (rate(floodgate_dns_server_answers_total{$i}[$__rate_interval]))',
          ],
        ],
        [
          'Servers in use',
          'short',
          ['UDP', 'floodgate_dns_servers_up{$i}'],
          ['TCP', 'floodgate_dns_tcp_servers_up{$i}'],
        ],
        ['Queries that wait for an answer', 'short', ['{{instance}}', 'floodgate_dns_in_flight{$i}']],
        [
          'dnsdist nodes with the rules in force',
          'short',
          ['{{node}}', 'floodgate_dns_dnsdist_in_force{$i}'],
        ],
      ],
      'Packets, TCP, what is known': [
        [
          'Packets that are no query',
          'pps',
          [
            '{{result}}',
            'sum by (result) (rate(floodgate_dns_packets_total{$i,result!="ok"}[$__rate_interval]))',
          ],
        ],
        [
          'TCP connections',
          'short',
          ['clients', 'floodgate_dns_tcp_connections{$i}'],
          ['servers', 'floodgate_dns_tcp_server_connections{$i}'],
        ],
        [
          'TCP connections closed',
          'ops',
          ['{{reason}}', 'sum by (reason) (rate(floodgate_dns_tcp_closed_total{$i}[$__rate_interval]))'],
        ],
        ['Known names', 'short', ['{{instance}}', 'floodgate_dns_profile_names{$i}']],
        ['Known networks of clients', 'short', ['{{instance}}', 'floodgate_dns_known_networks{$i}']],
      ],
    },
  },
  gateway: {
    title: 'Floodgate: gateway',
    variables: ['network'],
    rows: {
      Calls: [
        [
          'Calls',
          'reqps',
          [
            '{{method}}',
            'sum by (method) (rate(floodgate_gateway_call_duration_seconds_count{$i,$n}[$__rate_interval]))',
          ],
        ],
        [
          'Time to answer: 99 of 100',
          's',
          [
            '{{method}}',
            'histogram_quantile(0.99, sum by (le, method) (rate(floodgate_gateway_call_duration_seconds_bucket{$i,$n}[$__rate_interval])))',
          ],
        ],
        [
          'Errors by code',
          'reqps',
          ['{{code}}', 'sum by (code) (rate(floodgate_gateway_call_errors_total{$i,$n}[$__rate_interval]))'],
        ],
        [
          'Relayed calls: from the cache, with another, from a node',
          'reqps',
          ['{{result}}', 'sum by (result) (rate(floodgate_gateway_cache_total{$i,$n}[$__rate_interval]))'],
        ],
      ],
      Nodes: [
        ['Nodes in rotation', 'short', ['{{network}} {{node}}', 'floodgate_upstream_up{$i,$n}']],
        ['Head', 'short', ['{{network}} {{node}}', 'floodgate_upstream_head_block{$i,$n}']],
        [
          'Time of a node: 99 of 100',
          's',
          [
            '{{node}}',
            'histogram_quantile(0.99, sum by (le, node) (rate(floodgate_upstream_request_duration_seconds_bucket{$i,$n}[$__rate_interval])))',
          ],
        ],
        [
          'Failures of nodes',
          'reqps',
          [
            '{{node}} {{reason}}',
            'sum by (node, reason) (rate(floodgate_upstream_failures_total{$i,$n}[$__rate_interval]))',
          ],
        ],
        [
          'What cannot be true, what others contradict',
          'short',
          [
            '{{node}} invalid',
            'sum by (node) (increase(floodgate_upstream_invalid_responses_total{$i,$n}[$__rate_interval]))',
          ],
          [
            '{{node}} contradicted',
            'sum by (node) (increase(floodgate_upstream_disagreements_total{$i,$n}[$__rate_interval]))',
          ],
        ],
      ],
      'Limits and WebSockets': [
        [
          'Refused by a limit',
          'reqps',
          ['{{limit}}', 'sum by (limit) (rate(floodgate_gateway_limited_total{$i}[$__rate_interval]))'],
        ],
        [
          'Calls of each key',
          'reqps',
          [
            '{{key}} {{outcome}}',
            'sum by (key, outcome) (rate(floodgate_gateway_key_calls_total{$i}[$__rate_interval]))',
          ],
        ],
        ['Requests in flight', 'short', ['{{instance}}', 'floodgate_gateway_requests_in_flight{$i}']],
        [
          'WebSockets and subscriptions',
          'short',
          ['WebSockets', 'floodgate_gateway_websocket_connections{$i}'],
          ['subscriptions', 'floodgate_gateway_subscriptions{$i}'],
        ],
      ],
    },
  },
  traces: {
    title: 'Floodgate: trace index',
    variables: ['network'],
    rows: {
      'Does it follow?': [
        ['Blocks behind the nodes', 'short', ['{{network}}', 'floodgate_ingest_lag_blocks{$i,$n}']],
        [
          'Head: index and nodes',
          'short',
          ['index {{network}}', 'floodgate_index_head_block{$i,$n}'],
          ['nodes {{network}}', 'max by (network) (floodgate_upstream_head_block{$i,$n})'],
        ],
        [
          'First missing block (-1: none)',
          'short',
          ['{{network}}', 'floodgate_index_first_missing_block{$i,$n}'],
        ],
        [
          'Failures',
          'ops',
          [
            '{{network}} {{reason}}',
            'sum by (network, reason) (rate(floodgate_ingest_failures_total{$i,$n}[$__rate_interval]))',
          ],
        ],
      ],
      'How fast, how large': [
        [
          'Blocks written',
          'ops',
          ['{{network}}', 'rate(floodgate_ingest_blocks_total{$i,$n}[$__rate_interval])'],
        ],
        [
          'Traces written',
          'ops',
          ['{{network}}', 'rate(floodgate_ingest_traces_total{$i,$n}[$__rate_interval])'],
        ],
        [
          'Reorganisations, and blocks that they took back',
          'short',
          [
            'reorganisations {{network}}',
            'increase(floodgate_ingest_reorganisations_total{$i,$n}[$__rate_interval])',
          ],
          ['blocks {{network}}', 'increase(floodgate_ingest_undone_blocks_total{$i,$n}[$__rate_interval])'],
        ],
        [
          'trace_filter: 50 and 99 of 100',
          's',
          ...[0.5, 0.99].map(
            (share) =>
              /** @type {const} */ ([
                `${100 * share} %`,
                `histogram_quantile(${share}, sum by (le) (rate(floodgate_gateway_call_duration_seconds_bucket{$i,$n,method="trace_filter"}[$__rate_interval])))`,
              ]),
          ),
        ],
        ['Stores', 'bytes', ['{{store}}', 'floodgate_store_bytes{$i}']],
      ],
    },
  },
  process: {
    title: 'Floodgate: process',
    variables: [],
    rows: {
      'Is it well?': [
        ['Ready', 'short', ['{{instance}}', 'floodgate_ready{$i}']],
        ['Stores take writes', 'short', ['{{instance}}', 'floodgate_store_writable{$i}']],
        [
          'Answers over HTTP',
          'reqps',
          ['{{status}}', 'sum by (status) (rate(floodgate_http_responses_total{$i}[$__rate_interval]))'],
        ],
        [
          'Rules API',
          'reqps',
          [
            '{{operation}} {{status}}',
            'sum by (operation, status) (rate(floodgate_rules_requests_total{$i}[$__rate_interval]))',
          ],
        ],
      ],
      'What it uses': [
        [
          'Processor',
          'percentunit',
          ['{{instance}}', 'rate(process_cpu_seconds_total{$i}[$__rate_interval])'],
        ],
        [
          'Memory',
          'bytes',
          ['resident', 'process_resident_memory_bytes{$i}'],
          ['heap', 'nodejs_heap_size_used_bytes{$i}'],
          ['outside of the heap', 'nodejs_external_memory_bytes{$i}'],
          ['answers not taken yet', 'floodgate_http_unsent_bytes{$i}'],
        ],
        ['The thread is held: 99 of 100', 's', ['{{instance}}', 'nodejs_eventloop_lag_p99_seconds{$i}']],
        [
          'Files and connections',
          'short',
          ['open', 'process_open_fds{$i}'],
          ['HTTP', 'floodgate_http_connections{$i}'],
          ['limit', 'process_max_fds{$i}'],
        ],
        [
          'Connections cut',
          'ops',
          [
            '{{reason}}',
            'sum by (reason) (rate(floodgate_http_connections_cut_total{$i}[$__rate_interval]))',
          ],
        ],
        [
          'Alerts: deliveries',
          'ops',
          [
            '{{webhook}} {{outcome}}',
            'sum by (webhook, outcome) (rate(floodgate_alert_deliveries_total{$i}[$__rate_interval]))',
          ],
        ],
      ],
    },
  },
};

const COLUMNS = 24;
const PANEL_WIDTH = 12;
const PANEL_HEIGHT = 8;
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana's
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Every dashboard as Grafana imports it, by its file's name. */
export function dashboards() {
  return Object.fromEntries(
    Object.entries(DASHBOARDS).map(([name, { title, variables, rows }]) => [
      `${name}.json`,
      {
        uid: `floodgate-${name}`,
        title,
        tags: ['floodgate'],
        schemaVersion: 39,
        editable: true,
        refresh: '10s',
        time: { from: 'now-1h', to: 'now' },
        templating: { list: variablesOf(variables) },
        panels: panelsOf(rows),
      },
    ]),
  );
}

/** @type {(names: readonly string[]) => object[]} */
function variablesOf(names) {
  const source = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' };
  const of = (name, metric) => ({
    name,
    type: 'query',
    datasource: DATASOURCE,
    query: { query: `label_values(${metric}, ${name})`, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    current: { text: 'All', value: '$__all' },
  });
  return [
    source,
    of('instance', 'floodgate_build_info'),
    ...names.map((name) => of(name, 'floodgate_upstream_up')),
  ];
}

/** @type {(rows: Readonly<Record<string, readonly Panel[]>>) => object[]} */
function panelsOf(rows) {
  const panels = [];
  let y = 0;
  for (const [title, inRow] of Object.entries(rows)) {
    panels.push({ id: panels.length + 1, type: 'row', title, gridPos: { x: 0, y: y++, w: COLUMNS, h: 1 } });
    for (const [index, [name, unit, ...queries]] of inRow.entries()) {
      const x = (index * PANEL_WIDTH) % COLUMNS;
      panels.push({
        id: panels.length + 1,
        type: 'timeseries',
        title: name,
        datasource: DATASOURCE,
        gridPos: { x, y, w: PANEL_WIDTH, h: PANEL_HEIGHT },
        fieldConfig: { defaults: { unit, min: unit === 'short' ? undefined : 0 }, overrides: [] },
        options: {
          tooltip: { mode: 'multi', sort: 'desc' },
          legend: { displayMode: 'list', placement: 'bottom' },
        },
        targets: queries.map(([legendFormat, expr], number) => ({
          refId: String.fromCharCode(65 + number),
          datasource: DATASOURCE,
          expr: expr.replaceAll('$i', 'instance=~"$instance"').replaceAll('$n', 'network=~"$network"'),
          legendFormat,
        })),
      });
      if (x + PANEL_WIDTH === COLUMNS || index === inRow.length - 1) y += PANEL_HEIGHT;
    }
  }
  return panels;
}
