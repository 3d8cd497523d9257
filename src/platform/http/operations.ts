import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { sharedRuns } from '../serialQueue/index.ts';

/** Result of the readiness checks. `checks` contains, by the name of each check, `ok` or the problem. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface OperationsOptions {
  readonly roles: readonly string[];
  readonly readiness: () => Readiness;
  readonly metrics: () => Promise<Registry> | Registry;
}

/** Adds the routes `/healthz` (the process answers), `/readyz` (it can serve) and `/metrics` (Prometheus). */
export async function operations(listener: FastifyInstance, options: OperationsOptions): Promise<void> {
  // Monitoring and load balancers often send HEAD.
  const health = { exposeHeadRoute: true };
  listener.get('/healthz', health, async () => ({ status: 'ok' }));

  listener.get('/readyz', health, async (_request, reply) => {
    const { ready, checks } = options.readiness();
    reply.code(ready ? 200 : 503);
    if (!ready) reply.header('retry-after', '1');
    return { status: ready ? 'ready' : 'not ready', roles: options.roles, checks };
  });

  // Concurrent requests share a response, because each would make all processes read their metrics for milliseconds.
  const readMetrics = sharedRuns(async () => {
    const metrics = await options.metrics();
    return { type: metrics.contentType, text: await metrics.metrics() };
  });
  listener.get('/metrics', async (_request, reply) => {
    const { type, text } = await readMetrics();
    reply.type(type);
    return text;
  });
}
