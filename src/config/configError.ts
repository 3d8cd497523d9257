/** The configuration is invalid. The message names the option, its value and the allowed values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
