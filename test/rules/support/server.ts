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
  withRules(await startFloodgate(options));

/** As `startServer`, in a process of its own. */
export const startServerProcess = async (options?: RulesOptions): Promise<RulesProcess> =>
  withRules(await startFloodgateProcess(options));

const withRules = <F extends Floodgate>(floodgate: F): F & Rules => ({
  ...floodgate,
  baseUrl: `${floodgate.url}/client/v4`,
});
