/** The configuration: one schema for file, variables and flags, every option with its default and unit. */
export { allowed } from './allowed.ts';
export { ConfigError } from './configError.ts';
export { configurationPage } from './document.ts';
export { type ConfigSources, type EffectiveOption, effectiveOptions, loadConfig } from './load.ts';
export { MAINNET, type NetworkConfig, networksOf, nodesOf } from './networks.ts';
export { type Option, optionsOf } from './option.ts';
export { type Role, rolesOf } from './roles.ts';
export { type Config, ConfigSchema, isNetworkName, ROLES } from './schema.ts';
export { shownValue } from './shown.ts';
export { strayVariables } from './strayVariables.ts';
