import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OtlpCollector, startOtlpCollector } from '../../../test/support/otlpCollector.ts';
import { until } from '../../../test/support/until.ts';
import { SpanExporter, type SpanExporterOptions } from './spanExporter.ts';
import { SpanMetrics } from './spanMetrics.ts';
import { Tracer } from './tracer.ts';

const NOBODY = 'http://127.0.0.1:9';
let lines: string[];
let registry: Registry;
let open: Array<{ stop(): Promise<void> }>;
beforeEach(() => {
  lines = [];
  registry = new Registry();
  open = [];
});
afterEach(async () => {
  for (const one of open.reverse()) await one.stop();
});

async function collecting(...respond: Parameters<typeof startOtlpCollector>): Promise<OtlpCollector> {
  const collector = await startOtlpCollector(...respond);
  open.push(collector);
  return collector;
}

function exporterTo(url: string, options: Partial<SpanExporterOptions> = {}) {
  const line = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const exporter = new SpanExporter(
    {
      url: new URL(`${url}/v1/traces`),
      headers: { 'x-key': 'of the collector' },
      resource: { version: '1.2.3', instanceId: 'a' },
      intervalMs: 1,
      ...options,
    },
    { metrics: new SpanMetrics(registry), log: { info: line, warn: line, error: line } },
  );
  open.push(exporter);
  const tracer = new Tracer(
    { sampler: 'always_on', ratio: 1 },
    { finished: (span) => exporter.add(span), dropped: () => undefined },
  );
  const end = (count: number, from = 0): void => {
    for (let i = 0; i < count; i++) tracer.begin({ name: `span ${from + i}`, kind: 'internal' })?.end();
  };
  return { exporter, end };
}
const count = async (name: string): Promise<number> =>
  Number(new RegExp(`^floodgate_spans_${name} (\\d+)$`, 'm').exec(await registry.metrics())?.[1]);
const dropped = (reason: string): Promise<number> => count(`dropped_total\\{reason="${reason}"\\}`);

describe('spans', () => {
  it('are exported in OTLP format and in order', async () => {
    const collector = await collecting();
    const { end } = exporterTo(collector.url);
    end(1_200);
    await until('all have arrived', () => collector.spans.length === 1_200);
    expect(collector.faults).toEqual([]);
    expect(collector.spans.map(({ name }) => name)).toEqual(
      Array.from({ length: 1_200 }, (_, i) => `span ${i}`),
    );
    expect(collector.headers).toMatchObject({ 'x-key': 'of the collector' });
    expect(JSON.parse(collector.bodies[0] ?? '').resourceSpans[0].resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'floodgate' },
    });
    await until('they are counted', async () => (await count('exported_total')) === 1_200);
  });

  it('are sent again when the collector requests it, with one warning', async () => {
    const collector = await collecting((response, requests) => {
      response.writeHead(requests === 1 ? 503 : 200, { 'retry-after': '1' }).end();
      return requests > 1;
    });
    const { end } = exporterTo(collector.url);
    end(3);
    await until('they have arrived', () => collector.spans.length === 3);
    await until('both messages are logged', () => lines.length === 2);
    expect(lines[0]).toMatch(/^span export failed.*HTTP status 503/);
    expect(lines[1]).toMatch(/^span export recovered/);
    expect(await dropped('queue_full')).toBe(0);
  });

  it('are dropped and counted if the collector is unreachable and the queue is full', async () => {
    const { end } = exporterTo(NOBODY, { maxWaiting: 10 });
    end(25);
    expect(await dropped('queue_full')).toBe(15);
    await until('the failure is logged', () => lines.length === 1);
    end(10);
    expect(await dropped('queue_full')).toBe(25);
    expect(lines.join()).not.toContain('v1/traces');
  });

  it('are dropped and counted if the collector rejects them', async () => {
    const collector = await collecting((response) => {
      response.writeHead(400).end();
      return false;
    });
    const { end } = exporterTo(collector.url);
    end(4);
    await until('they are counted', async () => (await dropped('refused')) === 4);
    expect(lines).toHaveLength(1);
    expect(collector.bodies).toHaveLength(1);
  });

  it('count as rejected in the number that the collector reports', async () => {
    const collector = await collecting((response) => {
      response.writeHead(200).end('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}');
      return true;
    });
    const { end } = exporterTo(collector.url);
    end(5);
    await until('they are counted', async () => (await dropped('refused')) === 3);
    expect(await count('exported_total')).toBe(2);
  });

  it('do not delay the stop without limit if the collector hangs', async () => {
    const collector = await collecting(() => false);
    const { exporter, end } = exporterTo(collector.url);
    end(2);
    await until('the collector received a request', () => collector.bodies.length === 1);
    await exporter.stop();
    expect(await dropped('stopped')).toBe(2);
    end(1);
    expect(await dropped('stopped')).toBe(3);
  });

  it('in the queue are sent at the stop', async () => {
    const collector = await collecting();
    const { exporter, end } = exporterTo(collector.url, { intervalMs: 60_000 });
    end(7);
    expect(collector.bodies).toEqual([]);
    await exporter.stop();
    expect(collector.spans).toHaveLength(7);
  });

  it('are counted as exported after an endless response', async () => {
    const collector = await collecting((response) => {
      response.writeHead(200);
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(64 * 1024), more);
      };
      more();
      return true;
    });
    const { end } = exporterTo(collector.url);
    end(1);
    await until('it is counted', async () => (await count('exported_total')) === 1);
  });
});
