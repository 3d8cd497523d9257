/** The configuration cannot be used. The message names the option, what it is and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
