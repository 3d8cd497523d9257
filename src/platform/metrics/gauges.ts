import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge. `read` returns its value whenever metrics are collected. */
export type RegisterGauge = (name: string, help: string, read: () => number) => void;

/** Returns a function that registers gauges without labels in a registry. */
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
