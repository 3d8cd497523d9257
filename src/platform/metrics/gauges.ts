import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge that is read when somebody asks. */
export type RegisterGauge = (name: string, help: string, read: () => number) => void;

/** Makes what registers gauges without labels in this registry. */
export const gaugesOf =
  (registry: Registry): RegisterGauge =>
  (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
