import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { SharedTraces } from '../../ethereum/store/shared/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import { gaugesOf } from '../../platform/metrics/index.ts';

const INTERVAL_MS = 10_000;

/** Checks periodically that the shared index is reachable and has its tables, for a metric and the log. */
export class TraceStoreWatch {
  readonly #timer: NodeJS.Timeout;
  #isUp = true;
  #isChecking = false;

  constructor(
    shared: Pick<SharedTraces, 'check'>,
    { logger, registry }: { readonly logger: Logger; readonly registry: Registry },
  ) {
    gaugesOf(registry)(
      'floodgate_trace_store_up',
      '1 while the shared index is reachable and has its tables, otherwise 0.',
      () => Number(this.#isUp),
    );
    const check = async (): Promise<void> => {
      if (this.#isChecking) return;
      this.#isChecking = true;
      const failure = await shared.check().then(
        () => undefined,
        (error: unknown) => error,
      );
      this.#isChecking = false;
      const isUp = failure === undefined;
      if (isUp !== this.#isUp && isUp) logger.info('the trace store is reachable again');
      else if (isUp !== this.#isUp)
        logger.warn({ err: failure }, 'the trace store is unreachable: only the newest blocks are served');
      this.#isUp = isUp;
    };
    inBackground('check of the trace store', check);
    this.#timer = setInterval(() => inBackground('check of the trace store', check), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
