import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROMTOOL, WITHOUT_PROMTOOL } from '../support/promtool.ts';
import { startFloodgate } from '../support/startFloodgate.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const ALERTS = 'deploy/prometheus/alerts.yml';
const rules: readonly { alert: string; expr: string; annotations: { runbook: string } }[] = parse(
  read(ALERTS),
).groups.flatMap(({ rules: inGroup }: { rules: object[] }) => inGroup);
const dashboards = readdirSync(join(root, 'deploy/grafana')).map((name) => `deploy/grafana/${name}`);

/** Returns the metrics in an expression. */
const metricsIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:floodgate|process|nodejs)_\w+/g)].map(([name]) => name);
const expressionsOf = (dashboard: string): string[] =>
  JSON.parse(read(dashboard)).panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );

describe('the Prometheus alerts and Grafana dashboards', () => {
  it('use only existing metrics', async () => {
    const server = await startFloodgate();
    const text = await (await fetch(`${server.url}/metrics`)).text();
    await server.stop();
    // Metrics of Floodgate are taken from the docs, because no single server has all of them. Another test compares
    // that page.
    const listed = [
      ...read('docs/reference/metrics.md').matchAll(/^\| `(floodgate_\w+)` \| (\w+)/gm),
    ].flatMap(([, name, type]) =>
      type === 'histogram' ? ['bucket', 'count', 'sum'].map((part) => `${name}_${part}`) : [name],
    );
    const served = [...text.matchAll(/^((?:process|nodejs)_\w+)/gm)].map(([, name]) => name);
    const known = new Set([...listed, ...served]);
    for (const { alert, expr } of rules)
      expect(
        metricsIn(expr).filter((name) => !known.has(name)),
        alert,
      ).toEqual([]);
    for (const dashboard of dashboards) {
      const named = expressionsOf(dashboard).flatMap(metricsIn);
      expect(named.length).toBeGreaterThan(5);
      expect(
        named.filter((name) => !known.has(name)),
        dashboard,
      ).toEqual([]);
    }
  });

  it('link each alert to its section of docs/operate/runbooks.md, which has no other sections', () => {
    const sections = [...read('docs/operate/runbooks.md').matchAll(/^### (.*)$/gm)].map(([, title]) => title);
    expect(sections.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    for (const { alert, annotations } of rules)
      expect(annotations.runbook).toBe(`docs/operate/runbooks.md#${alert.toLowerCase()}`);
  });

  it.skipIf(PROMTOOL === undefined)(
    `pass the promtool tests of deploy/prometheus${WITHOUT_PROMTOOL}`,
    async () => {
      const { stdout } = await run(PROMTOOL ?? '', ['check', 'rules', join(root, ALERTS)]);
      expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
      const config = join(root, 'deploy/prometheus/prometheus.yml');
      expect((await run(PROMTOOL ?? '', ['check', 'config', config])).stdout).toContain('SUCCESS');
      const tests = join(root, 'deploy/prometheus/alerts.test.yml');
      expect((await run(PROMTOOL ?? '', ['test', 'rules', tests])).stdout).toContain('SUCCESS');
    },
  );
});
