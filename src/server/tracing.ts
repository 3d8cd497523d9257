import { randomUUID } from 'node:crypto';
import { validateHeaderValue } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError } from '../config/index.ts';
import { SpanExporter, SpanMetrics, Tracer } from '../platform/spans/index.ts';
import { VERSION } from './version.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left, for a bounded time. */
  stop(): Promise<void>;
}

/** Undefined where no collector is configured: then nothing of this is loaded with requests. Throws ConfigError. */
export function openTracing(
  { spans }: Config,
  { logger, registry }: { readonly logger: Logger; readonly registry: Registry },
): Tracing | undefined {
  const { endpoint, sampler, samplerArg: ratio, serviceName, intervalMs } = spans;
  if (endpoint === undefined) return undefined;
  if (!URL.canParse(endpoint))
    throw new ConfigError('spans.endpoint is not a URL; allowed: one like http://127.0.0.1:4318/v1/traces');
  const metrics = new SpanMetrics(registry);
  const resource = { serviceName, version: VERSION, instanceId: randomUUID() };
  const exporter = new SpanExporter(
    { url: new URL(endpoint), headers: headersOf(spans.headers), resource, intervalMs },
    { metrics, log: logger },
  );
  const tracer = new Tracer(
    { sampler, ratio },
    { finished: (span) => exporter.add(span), dropped: () => metrics.dropped('too_many') },
  );
  return { tracer, stop: () => exporter.stop() };
}

/** `name=value`, the value percent-encoded where it must be, as `OTEL_EXPORTER_OTLP_HEADERS` has them. */
function headersOf(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry, i) => {
      const equals = entry.indexOf('=');
      const name = entry.slice(0, equals).toLowerCase();
      try {
        const value = decodeURIComponent(entry.slice(equals + 1));
        validateHeaderValue(name, value);
        return [name, value];
      } catch {
        throw new ConfigError(
          `spans.headers: the value of header ${i + 1} (not shown) cannot be sent; allowed: visible characters, others percent-encoded`,
        );
      }
    }),
  );
}
