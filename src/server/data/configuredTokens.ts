import type { Config } from '../../config/index.ts';

/** Returns the tokens of the configuration, which are not in the store and have all permissions. */
export const configuredTokensOf = ({ apiToken }: Config): readonly string[] =>
  apiToken === undefined ? [] : [apiToken];
