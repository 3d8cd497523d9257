import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { query, UdpClient } from '../dns/support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { call } from '../gateway/support/send.ts';
import { PROMTOOL, WITHOUT_PROMTOOL } from '../support/promtool.ts';
import { startSharedChain } from '../support/sharedChain.ts';
import { startFloodgate, TOKEN } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'deploy/grafana');

/** The checked part of Grafana's dashboard model. */
interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly time: { readonly from: string; readonly to: string };
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly multi?: boolean;
  readonly datasource?: unknown;
  readonly query: string | { readonly query: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: unknown;
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly Target[];
}

interface Target {
  readonly refId: string;
  readonly datasource: unknown;
  readonly expr: string;
  readonly legendFormat: string;
}

const dashboards = readdirSync(folder).map(
  (name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as Dashboard] as const, // the tests check it
);
const targetsOf = ({ panels }: Dashboard): Target[] => panels.flatMap(({ targets = [] }) => targets);
const variableNames = ({ templating }: Dashboard): string[] => templating.list.map(({ name }) => name);

/** Refers to a variable, so that Grafana asks for the data source on import. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana's
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Ids of the used Grafana units. Grafana prints an unknown id literally after the number. */
const UNITS = ['short', 'reqps', 'ops', 'pps', 's', 'bytes', 'percentunit'];
const COLUMNS = 24;
/** Variables that Grafana defines. */
const BUILT_IN = ['__rate_interval'];

/** Each metric with its labels, from the docs. Another test compares that page with the program. */
const listed = [
  ...readFileSync(join(root, 'docs/reference/metrics.md'), 'utf8').matchAll(
    /^\| `(floodgate_\w+)` \| (\w+) \| ([^|]*)\|/gm,
  ),
].map(([, name = '', type = '', cell = '']) => ({
  name,
  type,
  labels: [...cell.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
}));

/** Returns the metrics in an expression, without the suffixes of histogram series. */
const metricsIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:floodgate|process|nodejs)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  );
/** Returns the labels used by an expression or its legend. */
const labelsIn = ({ expr, legendFormat }: Target): string[] =>
  [
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', ')),
    ...[...expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, name = '']) => name),
    ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name),
  ].filter((name) => name !== 'instance' && name !== 'le');

describe('the Grafana dashboards', () => {
  it("follow Grafana's dashboard model", () => {
    expect(new Set(dashboards.map(([, { uid }]) => uid)).size).toBe(dashboards.length);
    for (const [name, { uid, title, schemaVersion, time, panels }] of dashboards) {
      expect(uid, name).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
      expect(title, name).toMatch(/^Floodgate: /);
      // Since schema version 36, a data source is an object.
      expect(schemaVersion, name).toBeGreaterThanOrEqual(36);
      expect(time, name).toEqual({ from: 'now-1h', to: 'now' });
      expect(new Set(panels.map(({ id }) => id)).size, name).toBe(panels.length);
      for (const panel of panels) {
        const of = `${name}: ${panel.title}`;
        expect([panel.id > 0 && Number.isInteger(panel.id), panel.title !== ''], of).toEqual([true, true]);
        if (panel.type === 'row') continue;
        expect(panel.type, of).toBe('timeseries');
        expect(panel.datasource, of).toEqual(DATASOURCE);
        expect(UNITS, of).toContain(panel.fieldConfig?.defaults.unit);
        const targets = panel.targets ?? [];
        expect(targets.length, of).toBeGreaterThan(0);
        expect(new Set(targets.map(({ refId }) => refId)).size, of).toBe(targets.length);
        for (const target of targets)
          expect([target.datasource, target.legendFormat !== ''], of).toEqual([DATASOURCE, true]);
      }
    }
  });

  it('have panels that do not overlap and are inside the grid', () => {
    for (const [name, { panels }] of dashboards) {
      const taken = new Map<string, string>();
      for (const { title, gridPos } of panels) {
        const { x, y, w, h } = gridPos;
        expect(
          [x, y, w, h].every((value) => Number.isInteger(value) && value >= 0),
          title,
        ).toBe(true);
        expect([w > 0, h > 0, x + w <= COLUMNS], title).toEqual([true, true, true]);
        for (let row = y; row < y + h; row++)
          for (let column = x; column < x + w; column++) {
            expect(taken.get(`${row} ${column}`), `${name}: ${title}`).toBeUndefined();
            taken.set(`${row} ${column}`, title);
          }
      }
    }
  });

  it('define exactly the variables that they use, and match multi-value variables with =~', () => {
    for (const [name, dashboard] of dashboards) {
      const [source, ...others] = dashboard.templating.list;
      expect(source, name).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
      for (const { name: variable, type, datasource, query: asked } of others) {
        expect([variable, type, datasource], name).toEqual([variable, 'query', DATASOURCE]);
        const [, metric, label] =
          /^label_values\((\w+), (\w+)\)$/.exec(typeof asked === 'string' ? asked : asked.query) ?? [];
        const labels = listed.find((one) => one.name === metric)?.labels;
        expect([...(labels ?? []), 'instance'], `${name}: ${variable} of ${metric}`).toContain(label);
        expect(labels, `${name}: ${metric}`).toBeDefined();
      }
      const used = targetsOf(dashboard).flatMap(({ expr }) =>
        [...expr.matchAll(/\$\{?(\w+)/g)].map(([, variable = '']) => variable),
      );
      expect(new Set(used.filter((variable) => !BUILT_IN.includes(variable))), name).toEqual(
        new Set(variableNames(dashboard).slice(1)),
      );
      // A variable with several values becomes a regular expression.
      for (const { expr } of targetsOf(dashboard))
        for (const [matcher] of expr.matchAll(/\w+(?:=~|!~|!=|=)"\$\w+"/g)) expect(matcher).toContain('=~');
    }
  });

  it('use only labels that the metrics have', () => {
    for (const [name, dashboard] of dashboards)
      for (const target of targetsOf(dashboard))
        for (const metric of metricsIn(target.expr).filter((one) => one.startsWith('floodgate_'))) {
          const labels = listed.find((one) => one.name === metric)?.labels ?? [];
          const missing = labelsIn(target).filter((label) => !labels.includes(label));
          expect(missing, `${name}: ${target.expr}`).toEqual([]);
        }
  });
});

describe.skipIf(PROMTOOL === undefined)(`the expressions of the dashboards${WITHOUT_PROMTOOL}`, () => {
  let place = '';
  let scrape = '';

  /** Replaces the variables like Grafana: all instances, all networks, and one minute as rate interval. */
  const asked = (expr: string): string =>
    expr.replaceAll('$__rate_interval', '1m').replaceAll(/"\$\w+"/g, '".+"');
  const expressions = dashboards.flatMap(([name, dashboard]) =>
    targetsOf(dashboard).map(({ expr }, i) => ({ name: `${name.replace('.json', '')}_${i}`, expr })),
  );

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'floodgate-dashboards-'));
    const [chain, authority] = await Promise.all([
      startSharedChain(),
      serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0),
    ]);
    const zone = join(place, ZONE_NAME);
    writeFileSync(zone, ZONE_TEXT);
    const server = await startFloodgate({
      upstream: chain.anvil.url,
      config: {
        index: { finality: 'none', from: 0 },
        dns: {
          account: 'a',
          listen: ['127.0.0.1:0'],
          servers: [`${authority.host}:${authority.port}`],
          zones: [`${ZONE_NAME}=${zone}`],
        },
      },
    });
    const client = await new UdpClient().open();
    try {
      await call(server.gatewayUrl, 'trace_filter', { fromBlock: '0x1', toBlock: '0x2' });
      await call(server.gatewayUrl, 'eth_chainId');
      await call(server.gatewayUrl, 'eth_call', 'nothing');
      await fetch(`${server.url}/client/v4/user/tokens/verify`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      client.send(query(`www.${ZONE_NAME}`, 1, 1), { host: '127.0.0.1', port: server.dnsPort });
      await until('the DNS answer in the metrics', async () => {
        scrape = await (await fetch(`${server.url}/metrics`)).text();
        return /^floodgate_dns_server_answers_total\{.*"answered".*\} [1-9]/m.test(scrape);
      });
    } finally {
      client.close();
      await server.stop();
      await Promise.all([authority.stop(), chain.anvil.stop()]);
    }
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  /** Returns the scraped series, and an artificial one for each metric that has none yet. */
  function series(): string[] {
    const scraped = scrape.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const seen = new Set(scraped.map((line) => /^\w+/.exec(line)?.[0] ?? ''));
    const others = listed
      .filter(({ name, type }) => !seen.has(type === 'histogram' ? `${name}_bucket` : name))
      .flatMap(({ name, type, labels }) => {
        const pairs = labels.map((label) => `${label}="made"`);
        if (type !== 'histogram') return [`${name}{${pairs.join()}}`];
        return ['0.1', '+Inf'].map((le) => `${name}_bucket{${[...pairs, `le="${le}"`].join()}}`);
      });
    return [...scraped.map((line) => line.slice(0, line.lastIndexOf(' '))), ...others].map((one) =>
      one.includes('{') ? one.replace('{', '{instance="here",') : `${one}{instance="here"}`,
    );
  }

  it('are valid PromQL', async () => {
    const file = join(place, 'rules.yml');
    const rules = expressions.map(({ name, expr }) => ({ record: `panel:${name}`, expr: asked(expr) }));
    writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
    expect(rules.length).toBeGreaterThan(50);
    const { stdout } = await run(PROMTOOL ?? '', ['check', 'rules', file]);
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  it('return numbers for the metrics of a server', async () => {
    const file = join(place, 'test.yml');
    const input = series().map((one) => ({ series: one, values: '0+60x40' }));
    expect(input.length).toBeGreaterThan(200);
    writeFileSync(
      file,
      stringify({
        tests: [
          {
            interval: '15s',
            input_series: input,
            promql_expr_test: expressions.map(({ expr }) => ({
              // Empty if the expression returns any number.
              expr: `absent((${asked(expr)}) > -Inf)`,
              eval_time: '5m',
              exp_samples: [],
            })),
          },
        ],
      }),
    );
    const { stdout } = await run(PROMTOOL ?? '', ['test', 'rules', file]);
    expect(stdout).toContain('SUCCESS');
  });
});
