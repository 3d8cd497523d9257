/** Configuration: one schema for file, variables and flags, with the default and unit of each option. */
export { allowed } from './allowed.ts';
export { ConfigError } from './configError.ts';
export { displayValue } from './displayValue.ts';
export { configurationPage } from './document.ts';
export { type ConfigSources, type EffectiveOption, effectiveOptions, loadConfig } from './load.ts';
export { MAINNET, type NetworkConfig, networksOf, nodesOf } from './networks.ts';
export { type Option, optionsOf } from './option.ts';
export { checkNodes, type Role, rolesOf } from './roles.ts';
export { type Config, ConfigSchema, isNetworkName, ROLES } from './schema.ts';
export { unknownVariables } from './unknownVariables.ts';
