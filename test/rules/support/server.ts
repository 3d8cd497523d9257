import {
  type Floodgate,
  type FloodgateOptions,
  type FloodgateProcess,
  type HostedOptions,
  startFloodgate,
  startFloodgateProcess,
  TOKEN,
} from '../../support/startFloodgate.ts';

export { TOKEN };

type RulesOptions = Pick<FloodgateOptions, 'args' | 'dataDir' | 'env'>;
type HostedRulesOptions = RulesOptions & Pick<HostedOptions, 'tuning'>;

interface Rules {
  /** Base URL with the version prefix: `http://127.0.0.1:PORT/client/v4`. */
  readonly baseUrl: string;
}

export type RulesServer = Floodgate & Rules;

export type RulesProcess = FloodgateProcess & Rules;

/** Starts a server with the rules API only, on a free port. */
export const startServer = async (options?: HostedRulesOptions): Promise<RulesServer> =>
  isWithWorkers() ? startServerWithWorkers(options) : withRules(await startFloodgate(options));

/** Like `startServer`, in a separate process. */
export const startServerProcess = async (options?: RulesOptions): Promise<RulesProcess> =>
  isWithWorkers() ? startServerWithWorkers(options) : withRules(await startFloodgateProcess(options));

/**
 * Starts a server with workers in a separate process. Also starts the gateway, which workers require, with an
 * unreachable node.
 */
export const startServerWithWorkers = async (
  options: RulesOptions = {},
  workers = 2,
): Promise<RulesProcess> =>
  withRules(
    await startFloodgateProcess({
      ...options,
      upstream: 'http://127.0.0.1:9',
      args: ['--role', 'gateway,ingest,rules', '--workers', String(workers), ...(options.args ?? [])],
      whenListening: true,
    }),
  );

/** Whether the tests run against a server with workers. */
export const isWithWorkers = (): boolean => process.env['TEST_RULES_WITH_WORKERS'] !== undefined;

const withRules = <F extends Floodgate>(floodgate: F): F & Rules => ({
  ...floodgate,
  baseUrl: `${floodgate.url}/client/v4`,
});
