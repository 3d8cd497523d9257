/** The nodes in `/metrics`: labels are addresses from the configuration. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DnsdistNode } from './node.ts';

/** What is told of the nodes. */
interface DnsdistFigures {
  nodes(): readonly Pick<DnsdistNode, 'console' | 'inForce' | 'failures'>[];
  faults(): number;
}

/** Registers what is told of the dnsdist nodes; it is read when it is asked for. */
export function registerDnsdistMetrics(plane: DnsdistFigures, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'floodgate_dns_packet_faults_total',
    help: 'Frames of dnstap that were dropped because handling them failed, by a fault of Floodgate: the log says what.',
    registers,
    collect() {
      this.reset();
      this.inc(plane.faults());
    },
  });
  new Gauge({
    name: 'floodgate_dns_dnsdist_in_force',
    help: '1 while the dnsdist node has the rules that are wanted of it.',
    labelNames: ['node'],
    registers,
    collect() {
      for (const { console, inForce } of plane.nodes())
        this.set({ node: `${console.address.host}:${console.address.port}` }, inForce ? 1 : 0);
    },
  });
  new Counter({
    name: 'floodgate_dns_dnsdist_failures_total',
    help: 'Times that a dnsdist node could not be told of the rules: not reached, or it answered with an error.',
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
