import {
  type Floodgate,
  type FloodgateOptions,
  type FloodgateProcess,
  startFloodgate,
  startFloodgateProcess,
  TOKEN,
} from '../../support/startFloodgate.ts';

export { TOKEN };

type RulesOptions = Pick<FloodgateOptions, 'args' | 'dataDir' | 'env'>;

interface Rules {
  /** With the version prefix: `http://127.0.0.1:PORT/client/v4`. */
  readonly baseUrl: string;
}

export type RulesServer = Floodgate & Rules;

export type RulesProcess = FloodgateProcess & Rules;

/** Starts a server with the rules API alone, on a free port. */
export const startServer = async (options?: RulesOptions): Promise<RulesServer> =>
  isWithWorkers() ? startServerWithWorkers(options) : withRules(await startFloodgate(options));

/** As `startServer`, in a process of its own. */
export const startServerProcess = async (options?: RulesOptions): Promise<RulesProcess> =>
  isWithWorkers() ? startServerWithWorkers(options) : withRules(await startFloodgateProcess(options));

/** The same with workers, and the gateway beside it that those are for, before a node that is not there. */
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

/** Whether all tests that are loaded now are of a server with workers. */
const isWithWorkers = (): boolean => process.env['TEST_RULES_WITH_WORKERS'] !== undefined;

const withRules = <F extends Floodgate>(floodgate: F): F & Rules => ({
  ...floodgate,
  baseUrl: `${floodgate.url}/client/v4`,
});
