/** Metrics of the dnsdist nodes. Label values are configured addresses and fixed names. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DnsdistNode } from './node.ts';

interface DnsdistFigures {
  nodes(): readonly Pick<DnsdistNode, 'console' | 'inForce' | 'failures'>[];
  faults(): number;
}

export function registerDnsdistMetrics(plane: DnsdistFigures, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'floodgate_dns_packet_faults_total',
    help: 'dnstap frames dropped because of a bug in Floodgate; the log contains the error.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.faults());
    },
  });
  new Gauge({
    name: 'floodgate_dns_dnsdist_in_force',
    help: '1 if the dnsdist node has the current rules, otherwise 0.',
    labelNames: ['node'],
    registers,
    collect() {
      for (const { console, inForce } of plane.nodes())
        this.set({ node: `${console.address.host}:${console.address.port}` }, inForce ? 1 : 0);
    },
  });
  new Counter({
    name: 'floodgate_dns_dnsdist_failures_total',
    help: 'Failed rule updates of a dnsdist node: unreachable, or rejected with an error.',
    labelNames: ['node', 'failure'],
    registers,
    collect() {
      this.reset();
      for (const { console, failures } of plane.nodes())
        for (const [failure, times] of Object.entries(failures))
          this.inc({ node: `${console.address.host}:${console.address.port}`, failure }, times);
    },
  });
}
